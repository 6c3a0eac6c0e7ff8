(** Rules that differ in order alone take the same steps. [MachineCompared.v], which the build writes, uses this to compare the
    cells of [Machine.v] with the rules that bitwright generates. *)
From Coq Require Import List Bool Arith.
From Bitwright Require Import Rules.
From Theorems Require Import Machine.
Import ListNotations.

Definition condition_eqb (x y : bit * bool) : bool := bit_eqb (fst x) (fst y) && Bool.eqb (snd x) (snd y).
Definition included {X} (eqb : X -> X -> bool) (l m : list X) : bool := forallb (fun x => existsb (eqb x) m) l.
Definition template_in (r : rules bit) (t : template bit) : bool :=
  existsb (fun t' => included condition_eqb (cond t') (cond t) && included condition_eqb (cond t) (cond t')
                     && included bit_eqb (writes t) (writes t')) r.
Definition same_machine (r r' : rules bit) : bool := forallb (template_in r') r && forallb (template_in r) r'.

Lemma included_ok {X} (eqb : X -> X -> bool) (ok : forall x y, eqb x y = true -> x = y) l m :
  included eqb l m = true -> forall x, In x l -> In x m.
Proof.
  unfold included. rewrite forallb_forall. intros H x I. specialize (H x I). apply existsb_exists in H as (y & J & E).
  apply ok in E. now subst.
Qed.
Lemma condition_eqb_ok x y : condition_eqb x y = true -> x = y.
Proof.
  destruct x, y. unfold condition_eqb. cbn. rewrite andb_true_iff. intros [E G]. apply bit_eqb_ok in E. apply eqb_prop in G. now subst.
Qed.
Lemma template_in_step r r' s b : forallb (template_in r') r = true -> step r s b = true -> step r' s b = true.
Proof.
  rewrite forallb_forall. unfold step. rewrite !existsb_exists. intros H (t & I & E). apply andb_prop in E as [E1 E2].
  specialize (H t I). apply existsb_exists in H as (t' & I' & G). rewrite !andb_true_iff in G. destruct G as [[G1 G2] G3].
  exists t'. split; [easy|]. apply andb_true_intro. split.
  - unfold matches in *. rewrite forallb_forall in *. intros c J. apply E1. now apply (included_ok _ condition_eqb_ok _ _ G1).
  - apply mem_In. apply mem_In in E2. apply (included_ok bit_eqb (fun x y => proj1 (bit_eqb_ok x y)) _ _ G3), E2.
Qed.
Theorem same_machine_ok r r' : same_machine r r' = true -> forall s b, step r s b = step r' s b.
Proof. intros H s b. apply andb_prop in H as [H1 H2]. apply eq_true_iff_eq. split; now apply template_in_step. Qed.
