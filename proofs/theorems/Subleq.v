(** The rules of machine V execute SUBLEQ programs, at every size. *)
From Coq Require Import List Bool Arith Lia.
From Bitwright Require Import Rules.
From Theorems Require Import Machine MachineKinds MachineStep MachineTree MachineRun MachineHalt.
Import ListNotations.
(** * The machine executes SUBLEQ *)

Section Subleq.
Variables A n : nat.

(** One instruction: M[b] becomes M[b] - M[a]; if the result is 0 or negative, the program continues at c. Words are numbers
    below 2^n, negative from 2^(n-1) on; addresses are taken modulo the number of words, 2^A. *)
Definition subleq (M : nat -> nat) (pc : nat) : (nat -> nat) * nat :=
  let read x := M (x mod 2 ^ A) in
  let a := read pc in let b := read (pc + 1) in let c := read (pc + 2) in
  let r := (read b + 2 ^ n - read a) mod 2 ^ n in
  (fun k => if k =? b mod 2 ^ A then r else M k, if (r =? 0) || (2 ^ (n - 1) <=? r) then c else (pc + 3) mod 2 ^ n).

(** The program counter at the start of an instruction, and a word of memory. *)
Definition counter (s : state bit) : nat := number n (fun j => s (Counter j)).
Definition word (s : state bit) (k : nat) : nat := number n (fun j => s (Word k j)).
(** The start state of a program: its memory, its counter and [Begin]; all other bits are off. *)
Definition start (M : nat -> nat) (pc : nat) : state bit := fun x =>
  match x with Begin => true | Counter j => Nat.testbit pc j | Word k j => Nat.testbit (M k) j | _ => false end.
End Subleq.

Section Machine.
Variables A n : nat.
Hypothesis A_least : 2 <= A.
Hypothesis A_most : A <= n.
Notation steps := (steps A n). Notation machine := (machine A n). Notation depth := (depth A).

(** An instruction begins with this memory and this counter. The last result may still be on its way to its word. *)
Definition begins (s : state bit) (M : nat -> nat) (pc : nat) : Prop :=
  exists memory pending p,
    match pending with Some (x, _) => x < 2 ^ A | None => True end
    /\ (forall b, valid A n b -> s b = boundary A memory pending p b)
    /\ (forall k, k < 2 ^ A -> number n (landed memory pending k) = M k) /\ number n p = pc.

Lemma reads_own c : part A n c -> Forall (Forall (valid A n)) (block_bits c).
Proof.
  intros P. assert (X : forall l, (forall x, In x l -> valid A n x) -> Forall (valid A n) l) by (intros l; apply Forall_forall).
  destruct P as [d k D K|d k i D K I|d k j D K J|k j K J|k K|l q j L Q J|j J|j J|d i D I|l i L I|j J|t Tl|c I].
  - pose proof (below_step A n A_least A_most d D) as B. unfold Machine.node_cell.
    destruct (Nat.ltb_spec (S d) depth) as [Y|Y].
    + destruct (digit_cases A n A_least A_most d D) as [(E & _)|E]; rewrite E in *; cbn [Nat.eqb block_bits app]; repeat constructor; cbn [valid]; lia.
    + rewrite (digit_last A n A_least A_most) in B by lia. cbn [block_bits app]. repeat constructor; cbn [valid]; lia.
  - pose proof (below_step A n A_least A_most d ltac:(lia)). cbn [block_bits Machine.gate_cell]. repeat constructor; cbn [valid]; lia.
  - repeat constructor; cbn [valid]; lia.
  - repeat constructor; cbn [valid]; lia.
  - repeat constructor; cbn [valid]; lia.
  - repeat constructor; cbn [valid]; lia.
  - unfold Machine.port_cell. destruct (Nat.ltb_spec j A); repeat constructor; cbn [valid]; lia.
  - unfold Machine.bit_cell. destruct (S j <? n); repeat constructor; cbn [valid]; lia.
  - unfold Machine.prefix_cell. destruct (Nat.ltb_spec i (2 ^ d)), (Nat.ltb_spec i (2 ^ S d)); repeat constructor; cbn [valid]; lia.
  - apply (width_half A n A_least A_most) in I. unfold Machine.equal_cell. destruct (Nat.ltb_spec (S (2 * i)) (width n l)); repeat constructor; cbn [valid]; lia.
  - unfold Machine.counter_cell. destruct (S j <? n), (j <? A); repeat constructor; cbn [valid]; lia.
  - unfold Machine.moment_cell. destruct (t =? 1); repeat constructor; cbn [valid]; lia.
  - cbn [Machine.signal_cells In] in I. repeat destruct I as [<-|I]; try (repeat constructor; cbn [valid]; exact Logic.I). destruct I.
Qed.
Lemma step_valid s s' b : (forall x, valid A n x -> s x = s' x) -> step machine s b = step machine s' b.
Proof.
  intros E. pose proof (machine_consists A n A_least A_most) as (Fs & _).
  assert (G : forall c, part A n c -> on s c b = on s' c b).
  { intros c P. pose proof (reads_own c P) as R. rewrite Forall_forall in Fs. specialize (Fs c (proj2 (in_cells A n A_least A_most c) P)). unfold fits in Fs.
    unfold on, cell_rules. destruct (nth_error kinds (kind_of c)) as [k|] eqn:N; [|easy]. destruct Fs as [Fb _].
    assert (Pr : forallb (fun b => forallb (fun v => length v =? fst b) (snd b)) (blocks k) = true).
    { assert (Q : forallb proper kinds = true) by reflexivity. rewrite forallb_forall in Q. exact (Q k (nth_error_In _ _ N)). }
    rewrite !cell_rules_step by assumption. do 2 f_equal. clear - E R. induction R as [|x l H R IH]; [easy|]. cbn [map]. f_equal; [|exact IH].
    clear - E H. induction H as [|y l V H IH]; [easy|]. cbn [map]. f_equal; [now apply E|exact IH]. }
  apply eq_true_iff_eq. rewrite !(step_part A n A_least A_most). split; intros (c & P & O); exists c; (split; [exact P|]); [rewrite <- G|rewrite G]; easy.
Qed.

Section One.
Variables (s : state bit) (memory : nat -> nat -> bool) (pending : option (nat * (nat -> bool))) (p : nat -> bool).
Hypothesis pending_word : match pending with Some (x, _) => x < 2 ^ A | None => True end.
Hypothesis s_is : forall b, valid A n b -> s b = boundary A memory pending p b.
Hypothesis goes_on : p (n - 1) = false.
Lemma run_form t : t <= last A n + 4 -> forall b, valid A n b -> run machine t s b = form A n memory pending p t b.
Proof.
  intros L. induction t as [|t IH]; intros b V.
  - cbn. rewrite s_is by easy. symmetry. now apply (form_0 A n A_least A_most memory pending p pending_word).
  - change (run machine (S t) s b) with (step machine (run machine t s) b).
    rewrite (step_valid _ (form A n memory pending p t)) by (apply IH; lia). rewrite (step_next A n A_least A_most) by easy.
    apply (form_next A n A_least A_most memory pending p pending_word goes_on); [easy|lia].
Qed.
End One.

Lemma number_testbit m x : number m (Nat.testbit x) = x mod 2 ^ m.
Proof.
  induction m as [|m IH]; [now rewrite Nat.mod_1_r|]. cbn [number]. rewrite IH. replace (2 ^ S m) with (2 ^ m * 2) by (rewrite Nat.pow_succ_r'; lia).
  pose proof (two_pos A n A_least A_most m). rewrite Nat.mod_mul_r by lia. rewrite Nat.testbit_spec'. lia.
Qed.
Lemma below_half p : number n p < 2 ^ (n - 1) -> p (n - 1) = false.
Proof. replace n with (S (n - 1)) at 1 by lia. cbn [number]. destruct (p (n - 1)); [cbn [Nat.b2n]; lia|easy]. Qed.

Theorem instruction s M pc : begins s M pc -> pc < 2 ^ (n - 1) ->
  begins (run machine steps s) (fst (subleq A n M pc)) (snd (subleq A n M pc)).
Proof.
  intros (memory & pending & p & W & E & H & P) L. rewrite <- P in L. apply below_half in L as G.
  set (x := address A (b' A memory pending p)). set (r := result A n memory pending p).
  assert (Z : 2 ^ A <> 0) by (apply Nat.pow_nonzero; lia).
  assert (Lt : forall y, y mod 2 ^ A < 2 ^ A) by (intros; now apply Nat.mod_upper_bound).
  assert (Ad : forall f, address A f = number n f mod 2 ^ A) by (intros f; apply (address_number A n A_most)).
  assert (Ea : number n (a A memory pending p) = M (pc mod 2 ^ A)).
  { unfold a, here. rewrite Ad, P. now apply H. }
  assert (Eb : number n (b' A memory pending p) = M ((pc + 1) mod 2 ^ A)).
  { unfold b', here. rewrite Ad, P. unfold Machine.words. rewrite Nat.add_mod_idemp_l by easy. now apply H. }
  assert (Ec : number n (c' A memory pending p) = M ((pc + 2) mod 2 ^ A)).
  { unfold c', here. rewrite Ad, P. unfold Machine.words. rewrite Nat.add_mod_idemp_l by easy. rewrite <- Nat.add_assoc. rewrite Nat.add_mod_idemp_l by easy. now apply H. }
  assert (Em : number n (minuend A memory pending p) = M (M ((pc + 1) mod 2 ^ A) mod 2 ^ A)).
  { unfold minuend. rewrite Ad, Eb. now apply H. }
  assert (Es : number n (subtrahend A memory pending p) = M (M (pc mod 2 ^ A) mod 2 ^ A)).
  { unfold subtrahend. rewrite Ad, Ea. now apply H. }
  assert (Er : number n r = (M (M ((pc + 1) mod 2 ^ A) mod 2 ^ A) + 2 ^ n - M (M (pc mod 2 ^ A) mod 2 ^ A)) mod 2 ^ n).
  { unfold r. rewrite (result_number A n A_least A_most). now rewrite Em, Es. }
  exists (landed memory pending), (Some (x, r)), (following A n memory pending p). split; [|split; [|split]].
  - unfold x. rewrite Ad. apply Lt.
  - intros b V. replace steps with (last A n + 4) by (unfold Machine.steps, Machine.last, Machine.subtract; lia).
    rewrite (run_form s memory pending p W E G) by (easy || lia). now apply (form_end A n A_least A_most).
  - intros k K. cbn [subleq fst]. rewrite <- Er, <- Eb, <- Ad. fold x. unfold MachineTree.landed at 1. destruct (k =? x); [easy|]. now apply H.
  - cbn [subleq snd]. rewrite (following_number A n A_least A_most), (yes_number A n A_least A_most). fold r. rewrite Er, Ec, P. reflexivity.
Qed.

(** The observable state: [Begin] is on, the counter is in place, and memory is complete [depth] steps later. *)
Theorem begins_seen s M pc : begins s M pc ->
  s Begin = true /\ counter n s = pc /\
  (pc < 2 ^ (n - 1) -> forall t k, depth <= t <= steps -> k < 2 ^ A -> word n (run machine t s) k = M k).
Proof.
  intros (memory & pending & p & W & E & H & P). split; [|split].
  - now rewrite E.
  - unfold counter. rewrite <- P. apply number_ext. intros j J. now rewrite E.
  - intros L t k T K. rewrite <- P in L. apply below_half in L. rewrite <- H by easy. unfold word. apply number_ext. intros j J.
    rewrite (run_form s memory pending p W E L); [|unfold Machine.steps, Machine.last, Machine.subtract in *; lia|cbn [valid]; easy].
    cbn [form]. unfold MachineTree.word_at. now rewrite (proj2 (Nat.ltb_ge t depth)) by lia.
Qed.

(** A machine whose counter is negative halts: [Halt] stays on, and the memory does not change. *)
Theorem halts s M pc t : begins s M pc -> 2 ^ (n - 1) <= pc -> 3 <= t -> depth <= t ->
  run machine t s Halt = true /\ forall k, k < 2 ^ A -> word n (run machine t s) k = M k.
Proof.
  intros (memory & pending & p & W & E & H & P) L T D. assert (G : p (n - 1) = true).
  { rewrite <- P in L. revert L. replace n with (S (n - 1)) at 2 by lia. cbn [number]. pose proof (number_lt (n - 1) p).
    destruct (p (n - 1)); [easy|cbn [Nat.b2n]; lia]. }
  assert (R : forall u b, valid A n b -> run machine u s b = rest A n memory pending p u b).
  { induction u as [|u IH]; intros b V.
    - cbn. rewrite E by easy. symmetry. now apply (rest_0 A n A_least A_most).
    - change (run machine (S u) s b) with (step machine (run machine u s) b). rewrite (step_valid _ (rest A n memory pending p u)) by exact IH.
      rewrite (step_next A n A_least A_most) by easy. now apply (rest_next A n A_least A_most). }
  split; [rewrite R by exact I; now apply Nat.leb_le|]. intros k K. rewrite <- H by easy. unfold word. apply number_ext. intros j J.
  rewrite R by easy. transitivity (if t <? depth then memory k j else landed memory pending k j); [reflexivity|].
  now rewrite (proj2 (Nat.ltb_ge t depth)) by lia.
Qed.

(** ** Programs *)

Definition program (i : nat) (M : nat -> nat) (pc : nat) : (nat -> nat) * nat := Nat.iter i (fun x => subleq A n (fst x) (snd x)) (M, pc).

Lemma start_begins M pc : (forall k, k < 2 ^ A -> M k < 2 ^ n) -> pc < 2 ^ n -> begins (start M pc) M pc.
Proof.
  intros HM Hp. exists (fun k => Nat.testbit (M k)), None, (Nat.testbit pc). split; [easy|]. split; [|split].
  - intros b _. destruct b; try reflexivity; destruct d as [|[|d]]; reflexivity.
  - intros k K. unfold MachineTree.landed. rewrite number_testbit. apply Nat.mod_small. now apply HM.
  - rewrite number_testbit. now apply Nat.mod_small.
Qed.
Lemma run_plus a b s : run machine (a + b) s = run machine a (run machine b s).
Proof. induction a as [|a IH]; [easy|]. cbn [Nat.add]. unfold run in *. cbn [Nat.iter nat_rect]. f_equal. exact IH. Qed.

(** The rules execute a program, instruction by instruction, as long as its counter is not negative. *)
Theorem machine_executes M pc i :
  (forall k, k < 2 ^ A -> M k < 2 ^ n) -> pc < 2 ^ n -> (forall j, j < i -> snd (program j M pc) < 2 ^ (n - 1)) ->
  begins (run machine (i * steps) (start M pc)) (fst (program i M pc)) (snd (program i M pc)).
Proof.
  intros HM Hp H. induction i as [|i IH]; [now apply start_begins|]. cbn [Nat.mul]. rewrite run_plus.
  change (program (S i) M pc) with (subleq A n (fst (program i M pc)) (snd (program i M pc))). apply instruction; [|apply H; lia]. apply IH. intros j J. apply H. lia.
Qed.
End Machine.
Print Assumptions machine_executes.
