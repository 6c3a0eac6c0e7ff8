(** Tactics to prove, for every size at once, that families of rules are the rules of given cells. *)
From Coq Require Import List Bool ZArith Lia Arith String.
From Bitwright Require Import Rules Words.
Import ListNotations.

(** A template that implies t. *)
Definition covers (t t' : template name) : Prop := cond t' = cond t /\ forall b, In b (writes t) -> In b (writes t').

Lemma within_intro (r r' : rules name) : (forall t, In t r -> Exists (covers t) r') -> within r r'.
Proof. intros H t I. specialize (H t I). apply Exists_exists in H as (t' & I' & C & W). now exists t'. Qed.

Lemma Exists_rows {A} (P : A -> Prop) i a b f : P (f i) -> a <= i <= b -> Exists P (rows a b f).
Proof. intros H I. apply Exists_exists. exists (f i). split; [|easy]. apply in_map, in_seq. lia. Qed.
Lemma In_rows {A} (x : A) a b f : In x (rows a b f) -> exists i, f i = x /\ a <= i <= b.
Proof. intros I. apply in_map_iff in I as (i & E & I). exists i. split; [easy|]. apply in_seq in I. lia. Qed.
Lemma In_rows_intro {A} i a b (f : nat -> A) : a <= i <= b -> In (f i) (rows a b f).
Proof. intros I. apply in_map, in_seq. lia. Qed.
Lemma Exists_rules_of (P : template name -> Prop) pat c cells :
  In c cells -> Exists P (cell_rules pat c) -> Exists P (rules_of pat cells).
Proof.
  intros I H. apply Exists_exists in H as (t & J & H). apply Exists_exists. exists t. split; [|easy].
  apply in_flat_map. now exists c.
Qed.

(** Two lists of conditions, or two bits, that are equal up to the computation of an index. *)
Ltac same_index := first [reflexivity | apply f_equal; lia].
Ltac same_conditions :=
  first [reflexivity
        | repeat lazymatch goal with
                 | |- _ :: _ = _ :: _ => apply f_equal2
                 | |- (_, ?v) = (_, ?v) => apply f_equal2; [|reflexivity]
                 | |- at_ ?x _ = at_ ?x _ => same_index
                 | |- flag ?x = flag ?x => reflexivity
                 | |- [] = [] => reflexivity
                 end].
Ltac spell := cbn -[all at_ flag Nat.mul Nat.sub].
Ltac somewhere := first [assumption | same_index | left; somewhere | right; somewhere].
Ltac covered :=
  split; [cbn [cond]; solve [same_conditions]
         | let b := fresh "b" in let H := fresh "W" in
           intros b H; cbn -[all at_ flag Nat.mul Nat.sub] in H; rewrite ?in_app_iff in H; cbn -[all at_ flag Nat.mul Nat.sub] in H;
           spell; rewrite ?in_app_iff; spell;
           repeat lazymatch type of H with
                  | _ \/ _ => destruct H as [H | H]
                  | False => destruct H
                  | ?x = b => subst b
                  end; solve [somewhere]].
(** Finds a rule: row i of a family, or an explicitly listed rule. *)
Ltac find_rule i :=
  lazymatch goal with
  | |- Exists _ (_ ++ _) => apply Exists_app; first [left; find_rule i | right; find_rule i]
  | |- Exists _ (rows _ _ _) => apply (Exists_rows _ i); [covered | lia]
  | |- Exists _ (_ :: _) => first [apply Exists_cons_hd; covered | apply Exists_cons_tl; find_rule i]
  end.
(** Finds it in cell c, which the given tactic proves to be one of the cells. *)
Tactic Notation "in_cell" constr(c) "by" tactic(tac) :=
  apply (Exists_rules_of _ _ c); [tac | spell; find_rule 0].
(** Distinguishes all places where a template can be. *)
Ltac each_rule :=
  repeat lazymatch goal with
  | H : In _ (_ ++ _) |- _ => apply in_app_or in H; destruct H as [H | H]
  | H : In _ (rows _ _ _) |- _ => let i := fresh "i" in apply In_rows in H; destruct H as (i & <- & ?H)
  | H : In _ [] |- _ => destruct H
  | H : In _ (_ :: _) |- _ => destruct H as [<- | H]
  | H : (_ = _) \/ _ |- _ => destruct H as [<- | H]
  | H : False |- _ => destruct H
  end.

(** * For generated proofs, in which all places are known *)

(** Splits rows into i = m * k + r, with one goal for each residue r. *)
Lemma by_residue i m : 0 < m -> exists k r, i = m * k + r /\ r < m.
Proof. intros M. exists (i / m), (i mod m). split; [apply Nat.div_mod | apply Nat.mod_upper_bound]; lia. Qed.
Ltac residue i m :=
  let k := fresh "k" in let r := fresh "r" in let H := fresh "R" in
  destruct (by_residue i m ltac:(lia)) as (k & r & -> & H); revert H; lazymatch m with
  | 2 => intros H; destruct r as [|[|r]]; [| |lia]
  | 3 => intros H; destruct r as [|[|[|r]]]; [| | |lia]
  | 4 => intros H; destruct r as [|[|[|[|r]]]]; [| | | |lia]
  end; clear H.
Ltac up_to i e := destruct (le_lt_dec i e).
(** Selects part n of a concatenation, and row n of an explicit list. *)
Ltac nth_part n :=
  lazymatch n with
  | 0 => lazymatch goal with |- In _ (_ ++ _) => apply in_or_app; left | _ => idtac end
  | S ?m => apply in_or_app; right; nth_part m
  end.
Ltac nth_written n := lazymatch n with 0 => apply Exists_cons_hd; covered | S ?m => apply Exists_cons_tl; nth_written m end.
Ltac in_part :=
  lazymatch goal with
  | |- In (?f ?i) (rows ?a ?b ?g) => apply (In_rows_intro i a b g); lia
  | |- In _ [_] => left; reflexivity
  end.
Ltac in_nth_cell n c t :=
  apply (Exists_rules_of _ _ c); [lazymatch goal with |- In _ (?cells _) => unfold cells end; nth_part n; in_part | spell; nth_written t].
Ltac nth_rule n i :=
  lazymatch n with
  | 0 => lazymatch goal with |- Exists _ (_ ++ _) => apply Exists_app; left | _ => idtac end;
         lazymatch goal with
         | |- Exists _ (rows _ _ _) => apply (Exists_rows _ i); [covered | lia]
         | |- Exists _ [_] => apply Exists_cons_hd; covered
         end
  | S ?m => apply Exists_app; right; nth_rule m i
  end.
Tactic Notation "spell_in" hyp(H) := unfold cell_rules in H; cbn -[all at_ flag Nat.mul Nat.sub] in H.
