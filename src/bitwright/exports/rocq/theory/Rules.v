(** Bit rules, integer networks and cells, and the theorem that connects them.

    This file does not depend on any program or size. Bits can have any type with decidable equality. *)
From Coq Require Import List Bool ZArith Lia Arith.
Import ListNotations.

(** * 1. Bit rules *)

Class Named (bit : Type) := { beq : bit -> bit -> bool; beq_ok : forall a b, beq a b = true <-> a = b }.

Section Rules.
Context {bit : Type} {named : Named bit}.

Definition state := bit -> bool.

(** A template: the required values of the bits in its block, and the bits that it writes. *)
Record template := when_write { cond : list (bit * bool); writes : list bit }.
Definition rules := list template.

Definition mem (b : bit) (l : list bit) : bool := existsb (beq b) l.
Definition matches (s : state) (t : template) : bool := forallb (fun c => Bool.eqb (s (fst c)) (snd c)) (cond t).

(** One step, after which a bit is on if a matching template writes it. *)
Definition step (r : rules) (s : state) : state := fun b => existsb (fun t => matches s t && mem b (writes t)) r.
Definition run (r : rules) (n : nat) (s : state) : state := Nat.iter n (step r) s.

Lemma mem_In b l : mem b l = true <-> In b l.
Proof.
  unfold mem. rewrite existsb_exists. split.
  - intros (x & I & E). apply beq_ok in E. now subst.
  - intros I. exists b. split; [exact I | now apply beq_ok].
Qed.

Lemma matches_ext s s' t : (forall b, s b = s' b) -> matches s t = matches s' t.
Proof. intros E. unfold matches. induction (cond t) as [|c l IH]; cbn; [easy|]. now rewrite E, IH. Qed.

Lemma step_ext r s s' b : (forall b, s b = s' b) -> step r s b = step r s' b.
Proof. intros E. unfold step. induction r as [|t r IH]; cbn; [easy|]. now rewrite (matches_ext s s' t E), IH. Qed.

(** Every template of r has a counterpart in r' that writes at least the same bits. *)
Definition within (r r' : rules) : Prop :=
  forall t, In t r -> exists t', In t' r' /\ cond t' = cond t /\ forall b, In b (writes t) -> In b (writes t').
Definition same_rules (r r' : rules) : Prop := within r r' /\ within r' r.

Lemma within_step r r' s b : within r r' -> step r s b = true -> step r' s b = true.
Proof.
  unfold step. rewrite !existsb_exists. intros W (t & I & E). apply andb_prop in E as [E1 E2].
  destruct (W t I) as (t' & I' & C & Wr). exists t'. split; [exact I'|].
  apply andb_true_intro. split; [|apply mem_In, Wr, mem_In, E2]. unfold matches in *. now rewrite C.
Qed.

Lemma same_rules_step r r' s b : same_rules r r' -> step r s b = step r' s b.
Proof. intros [A B]. apply eq_true_iff_eq. split; now apply within_step. Qed.

End Rules.
Arguments state : clear implicits.
Arguments template : clear implicits.
Arguments rules : clear implicits.

(** * 2. Integer networks *)

Record network := Network { first : list (list Z); last : list (list Z); thresholds : list (list Z) }.

Open Scope Z_scope.
Definition sum (l : list Z) : Z := fold_right Z.add 0 l.
Fixpoint dot (x y : list Z) : Z := match x, y with a :: x, b :: y => a * b + dot x y | _, _ => 0 end.
Definition relu (z : Z) : Z := Z.max 0 z.
Definition hidden (net : network) (S : list nat) : list Z :=
  map (fun row => relu (sum (map (fun j => nth j row 0) S))) (first net).

(** The network's output for bit i, with column c of the thresholds, if the templates S match. *)
Definition says (net : network) (S : list nat) : nat -> nat -> bool :=
  match S with
  | [] => fun _ _ => false
  | _ => let h := hidden net S in let T := nth (length S - 1) (thresholds net) [] in
         fun i c => nth c T 0 <? dot (nth i (last net) []) h
  end.
Close Scope Z_scope.

(** * 3. Kinds, patterns, cells *)

(** For each block, its number of bits and the configurations that have a template; each port as the set of templates that write it. *)
Record kind := Kind { blocks : list (nat * list (list bool)); ports : list (list nat) }.
Definition pattern := list kind.

Definition total (l : list nat) : nat := fold_right Nat.add 0 l.
Definition templates_of (k : kind) : nat := total (map (fun b => length (snd b)) (blocks k)).
Definition bits_of (k : kind) : nat := total (map fst (blocks k)).

(** The program of a pattern. Its templates and bits are numbered kind by kind; within a kind, block bits come before ports. *)
Definition first_template (pat : pattern) (k : nat) : nat := total (map templates_of (firstn k pat)).
Definition port_bit (pat : pattern) (k q : nat) : nat :=
  total (map (fun x => bits_of x + length (ports x)) (firstn k pat)) + total (map bits_of (firstn 1 (skipn k pat))) + q.
Definition writers (pat : pattern) : list nat :=
  flat_map (fun k => repeat 0 (bits_of k) ++ map (@length nat) (ports k)) pat.
(** The thresholds have a column for each number of writers that occurs, in increasing order. *)
Definition column (pat : pattern) (c : nat) : nat := length (filter (fun x => x <? c) (nodup Nat.eq_dec (writers pat))).

Definition port_says (net : network) (pat : pattern) (k : nat) (S : list nat) : nat -> bool :=
  let answers := says net (map (Nat.add (first_template pat k)) S) in
  fun q => answers (port_bit pat k q) (column pat (nth (port_bit pat k q) (writers pat) 0)).

Definition vec_eqb (x y : list bool) : bool := if list_eq_dec bool_dec x y then true else false.
Definition has (t : nat) (l : list nat) : bool := existsb (Nat.eqb t) l.

(** The templates of a block, numbered from [off], that match a configuration, and the same for all blocks of a cell. *)
Fixpoint block_match (off : nat) (configs : list (list bool)) (v : list bool) : list nat :=
  match configs with [] => [] | c :: cs => (if vec_eqb c v then [off] else []) ++ block_match (S off) cs v end.
Fixpoint cell_match (off : nat) (bl : list (nat * list (list bool))) (vs : list (list bool)) : list nat :=
  match bl, vs with
  | (_, cs) :: bl, v :: vs => block_match off cs v ++ cell_match (off + length cs) bl vs
  | _, _ => []
  end.

(** All local states: the combinations of the possible matches in each block. *)
Fixpoint vectors (n : nat) : list (list bool) :=
  match n with O => [[]] | S n => flat_map (fun v => [false :: v; true :: v]) (vectors n) end.
Definition choices (off n : nat) (cs : list (list bool)) : list (list nat) :=
  nodup (list_eq_dec Nat.eq_dec) (map (block_match off cs) (vectors n)).
Fixpoint local_states (off : nat) (bl : list (nat * list (list bool))) : list (list nat) :=
  match bl with
  | [] => [[]]
  | (n, cs) :: bl => flat_map (fun x => map (app x) (local_states (off + length cs) bl)) (choices off n cs)
  end.

(** The finite statement: in every local state of every kind, the network's output for every port of that kind equals the table's. *)
Definition right_in (net : network) (pat : pattern) (k : nat) (kd : kind) (S : list nat) : bool :=
  let answers := port_says net pat k S in
  forallb (fun q => Bool.eqb (answers q) (existsb (fun t => has t (nth q (ports kd) [])) S)) (seq 0 (length (ports kd))).
Definition right_kind (net : network) (pat : pattern) (k : nat) (kd : kind) : bool :=
  forallb (right_in net pat k kd) (local_states 0 (blocks kd)).
Fixpoint right_from (net : network) (pat : pattern) (k : nat) (kinds : list kind) : bool :=
  match kinds with [] => true | kd :: kinds => right_kind net pat k kd && right_from net pat (S k) kinds end.
Definition shaped {A} (rows columns : nat) (m : list (list A)) : bool :=
  (length m =? rows) && forallb (fun row => length row =? columns) m.
Definition fits_pattern (net : network) (pat : pattern) : bool :=
  shaped (length (first net)) (total (map templates_of pat)) (first net)
  && shaped (length (writers pat)) (length (first net)) (last net)
  && shaped (total (map (fun k => length (blocks k)) pat)) (length (nodup Nat.eq_dec (writers pat))) (thresholds net).
Definition right (net : network) (pat : pattern) : bool := fits_pattern net pat && right_from net pat 0 pat.
Definition count_local_states (pat : pattern) : nat := total (map (fun k => length (local_states 0 (blocks k))) pat).

Section Cells.
Context {bit : Type} {named : Named bit}.

(** A cell: its kind, the bits of each block, and for each port the bits to which it is wired. *)
Record cell := Cell { kind_of : nat; block_bits : list (list bit); wires : list (list bit) }.

Definition fits (pat : pattern) (c : cell) : Prop :=
  match nth_error pat (kind_of c) with
  | Some k => Forall2 (fun b bs => length bs = fst b) (blocks k) (block_bits c) /\ length (wires c) = length (ports k)
  | None => False
  end.

(** The rules of a cell according to its kind. *)
Definition written_by (k : kind) (c : cell) (t : nat) : list bit :=
  flat_map (fun pw => if has t (fst pw) then snd pw else []) (combine (ports k) (wires c)).
Fixpoint block_rules (off : nat) (configs : list (list bool)) (bs : list bit) (out : nat -> list bit) : rules bit :=
  match configs with [] => [] | v :: cs => when_write (combine bs v) (out off) :: block_rules (S off) cs bs out end.
Fixpoint cell_rules_from (off : nat) (bl : list (nat * list (list bool))) (bs : list (list bit)) (out : nat -> list bit) : rules bit :=
  match bl, bs with
  | (_, cs) :: bl, b :: bs => block_rules off cs b out ++ cell_rules_from (off + length cs) bl bs out
  | _, _ => []
  end.
Definition cell_rules (pat : pattern) (c : cell) : rules bit :=
  match nth_error pat (kind_of c) with
  | Some k => cell_rules_from 0 (blocks k) (block_bits c) (written_by k c)
  | None => []
  end.
Definition rules_of (pat : pattern) (cells : list cell) : rules bit := flat_map (cell_rules pat) cells.

(** The program consists of these cells, whose kinds all belong to the pattern. *)
Definition consists_of (r : rules bit) (pat : pattern) (cells : list cell) : Prop :=
  Forall (fits pat) cells /\ same_rules r (rules_of pat cells).

(** One step by cells: the network is evaluated in every cell, and a bit is on if some port wired to it is. *)
Definition local_state (pat : pattern) (c : cell) (s : state bit) : list nat :=
  match nth_error pat (kind_of c) with Some k => cell_match 0 (blocks k) (map (map s) (block_bits c)) | None => [] end.
Definition cell_step (net : network) (pat : pattern) (s : state bit) (b : bit) (c : cell) : bool :=
  let answers := port_says net pat (kind_of c) (local_state pat c s) in
  existsb (fun qw => answers (fst qw) && mem b (snd qw)) (combine (seq 0 (length (wires c))) (wires c)).
Definition step_by_cells (net : network) (pat : pattern) (cells : list cell) (s : state bit) : state bit :=
  fun b => existsb (cell_step net pat s b) cells.
Definition run_by_cells net pat cells (n : nat) (s : state bit) : state bit := Nat.iter n (step_by_cells net pat cells) s.

(** * 4. The theorem *)

Lemma vec_eqb_ok x y : vec_eqb x y = true <-> x = y.
Proof. unfold vec_eqb. destruct (list_eq_dec bool_dec x y); split; easy. Qed.

Lemma vectors_all n v : length v = n -> In v (vectors n).
Proof.
  revert v. induction n as [|n IH]; intros [|a v]; cbn; try easy; [now left|].
  intros E. injection E as E. apply in_flat_map. exists v. split; [now apply IH|]. destruct a; cbn; auto.
Qed.

Lemma cell_match_local off bl vs :
  Forall2 (fun b v => length v = fst b) bl vs -> In (cell_match off bl vs) (local_states off bl).
Proof.
  intros F. revert off. induction F as [|[n cs] v bl vs E F IH]; intros off; cbn; [now left|].
  apply in_flat_map. exists (block_match off cs v). split.
  - apply nodup_In, in_map, vectors_all, E.
  - apply in_map, IH.
Qed.

Lemma right_kind_of net pat k kd :
  right net pat = true -> nth_error pat k = Some kd -> right_kind net pat k kd = true.
Proof.
  intros R. apply andb_prop in R as [_ R]. revert R.
  enough (G : forall kinds at_ k, right_from net pat at_ kinds = true -> nth_error kinds k = Some kd ->
                             right_kind net pat (at_ + k) kd = true) by (intros R N; exact (G pat 0 k R N)).
  clear k. induction kinds as [|x kinds IH]; intros a k R N; [now destruct k|].
  cbn in R. apply andb_prop in R as [R1 R2]. destruct k as [|k]; cbn in N.
  - injection N as ->. now rewrite Nat.add_0_r.
  - rewrite Nat.add_succ_r. exact (IH (S a) k R2 N).
Qed.

Lemma matches_combine (s : state bit) bs v ws : length v = length bs -> matches s (when_write (combine bs v) ws) = vec_eqb v (map s bs).
Proof.
  intros L. apply eq_true_iff_eq. rewrite vec_eqb_ok. unfold matches. cbn [cond].
  revert v L. induction bs as [|b bs IH]; intros [|a v] L; cbn in *; try easy.
  injection L as L. rewrite andb_true_iff, IH by easy. rewrite eqb_true_iff.
  split; [intros [-> ->]; easy | intros E; now injection E].
Qed.

Lemma block_rules_step off cs bs out (s : state bit) b :
  Forall (fun v => length v = length bs) cs ->
  step (block_rules off cs bs out) s b = existsb (fun t => mem b (out t)) (block_match off cs (map s bs)).
Proof.
  intros F. revert off. induction F as [|v cs L F IH]; intros off; [easy|].
  unfold step in *. cbn [block_rules block_match existsb writes]. rewrite IH, existsb_app, matches_combine by easy.
  destruct (vec_eqb v (map s bs)); cbn; [now rewrite orb_false_r | easy].
Qed.

Definition proper (k : kind) : bool := forallb (fun b => forallb (fun v => length v =? fst b) (snd b)) (blocks k).

Lemma cell_rules_step off bl bs out (s : state bit) b :
  forallb (fun b => forallb (fun v => length v =? fst b) (snd b)) bl = true ->
  Forall2 (fun b bs => length bs = fst b) bl bs ->
  step (cell_rules_from off bl bs out) s b = existsb (fun t => mem b (out t)) (cell_match off bl (map (map s) bs)).
Proof.
  intros P F. revert off. induction F as [|[n cs] x bl bs E F IH]; intros off; [easy|].
  cbn [cell_rules_from cell_match map]. cbn in P, E. apply andb_prop in P as [P1 P2].
  unfold step in *. rewrite existsb_app, existsb_app. rewrite <- (IH P2). f_equal.
  apply block_rules_step. apply Forall_forall. intros v I.
  rewrite forallb_forall in P1. specialize (P1 v I). apply Nat.eqb_eq in P1. congruence.
Qed.

Lemma mem_flat_map {A} b (f : A -> list bit) l : mem b (flat_map f l) = existsb (fun a => mem b (f a)) l.
Proof. unfold mem. induction l as [|a l IH]; cbn; [easy|]. now rewrite existsb_app, IH. Qed.

Lemma existsb_swap {A B} (f : A -> B -> bool) l m :
  existsb (fun a => existsb (f a) m) l = existsb (fun b => existsb (fun a => f a b) l) m.
Proof.
  apply eq_true_iff_eq. rewrite !existsb_exists. split.
  - intros (a & I & E). apply existsb_exists in E as (b & J & E). exists b. split; [easy|]. apply existsb_exists. now exists a.
  - intros (b & J & E). apply existsb_exists in E as (a & I & E). exists a. split; [easy|]. apply existsb_exists. now exists b.
Qed.

Lemma existsb_andb_r {A} (f : A -> bool) x l : existsb (fun a => f a && x) l = existsb f l && x.
Proof. induction l as [|a l IH]; cbn; [easy|]. rewrite IH. destruct (f a), x, (existsb f l); easy. Qed.

Lemma existsb_ext {A} (f g : A -> bool) l : (forall a, In a l -> f a = g a) -> existsb f l = existsb g l.
Proof. induction l as [|a l IH]; cbn; intros E; [easy|]. rewrite E, IH; auto. Qed.

Lemma existsb_numbered {A B} (f : A -> B -> bool) (g : nat -> B -> bool) (d : A) ps ws at_ :
  length ws = length ps ->
  (forall q w, q < length ps -> f (nth q ps d) w = g (at_ + q) w) ->
  existsb (fun pw => f (fst pw) (snd pw)) (combine ps ws) = existsb (fun qw => g (fst qw) (snd qw)) (combine (seq at_ (length ws)) ws).
Proof.
  revert at_ ws. induction ps as [|p ps IH]; intros a [|w ws] L E; cbn in *; try easy. f_equal.
  - rewrite <- (Nat.add_0_r a). apply (E 0 w). lia.
  - apply IH; [lia|]. intros q v Q. replace (S a + q) with (a + S q) by lia. apply (E (S q) v). lia.
Qed.

Theorem cell_step_right net pat s b c :
  right net pat = true -> forallb proper pat = true -> fits pat c ->
  cell_step net pat s b c = step (cell_rules pat c) s b.
Proof.
  intros R P F. unfold fits in F. unfold cell_step, cell_rules, local_state.
  destruct (nth_error pat (kind_of c)) as [k|] eqn:N; [|easy]. destruct F as [F L].
  rewrite cell_rules_step; [|rewrite forallb_forall in P; exact (P k (nth_error_In _ _ N)) |exact F].
  set (S := cell_match 0 (blocks k) (map (map s) (block_bits c))).
  unfold written_by. rewrite (existsb_ext _ (fun t => existsb (fun pw => has t (fst pw) && mem b (snd pw)) (combine (ports k) (wires c)))).
  2:{ intros t _. rewrite mem_flat_map. apply existsb_ext. intros pw _. now destruct (has t (fst pw)). }
  rewrite existsb_swap.
  rewrite (existsb_ext _ (fun pw => existsb (fun t => has t (fst pw)) S && mem b (snd pw))) by (intros; apply existsb_andb_r).
  symmetry. apply (existsb_numbered (fun p w => existsb (fun t => has t p) S && mem b w)
                     (fun q w => port_says net pat (kind_of c) S q && mem b w) []); [exact L|].
  intros q w Q. cbn. f_equal. symmetry. apply eqb_prop.
  pose proof (right_kind_of _ _ _ _ R N) as K. unfold right_kind in K. rewrite forallb_forall in K.
  assert (I : In S (local_states 0 (blocks k))).
  { apply cell_match_local. clear - F. induction F; cbn; constructor; [now rewrite map_length | easy]. }
  specialize (K S I). unfold right_in in K. rewrite forallb_forall in K. apply (K q). apply in_seq. lia.
Qed.

(** If the network is right in all local states of each kind, a step by cells equals a step of the rules in every state. *)
Theorem cells_step net pat cells r :
  right net pat = true -> forallb proper pat = true -> consists_of r pat cells ->
  forall s b, step_by_cells net pat cells s b = step r s b.
Proof.
  intros R P [F E] s b. rewrite (same_rules_step _ _ s b E). clear E r. unfold step_by_cells, rules_of.
  induction F as [|c cells Fc F IH]; cbn; [easy|]. unfold step in *. rewrite existsb_app, IH. f_equal.
  now apply (cell_step_right net pat s b c).
Qed.

Lemma step_by_cells_ext net pat cells s s' b :
  (forall b, s b = s' b) -> step_by_cells net pat cells s b = step_by_cells net pat cells s' b.
Proof.
  intros E. unfold step_by_cells. apply existsb_ext. intros c _. unfold cell_step.
  replace (local_state pat c s') with (local_state pat c s); [easy|]. unfold local_state.
  destruct (nth_error pat (kind_of c)); [|easy]. f_equal. apply map_ext. intros l. now apply map_ext.
Qed.

Theorem cells_run net pat cells r :
  right net pat = true -> forallb proper pat = true -> consists_of r pat cells ->
  forall n s b, run_by_cells net pat cells n s b = run r n s b.
Proof.
  intros R P C n. induction n as [|n IH]; intros s b; cbn; [easy|].
  change (step_by_cells net pat cells (run_by_cells net pat cells n s) b = step r (run r n s) b).
  rewrite (step_by_cells_ext _ _ _ _ (run r n s)) by apply IH. now apply cells_step.
Qed.

End Cells.
Arguments cell : clear implicits.
