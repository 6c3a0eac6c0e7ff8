(** When each port of the 17 kinds of machine V fires. *)
From Coq Require Import List Bool Arith Lia.
From Bitwright Require Import Rules.
From Theorems Require Import Machine.
Import ListNotations.

Definition on (s : state bit) (c : cell bit) (b : bit) : bool := step (cell_rules kinds c) s b.

Lemma mem_app' b (l m : list bit) : mem b (l ++ m) = mem b l || mem b m.
Proof. apply existsb_app. Qed.
Ltac by_bits s := intros; unfold on, step, cell_rules, kinds, T, F; cbn -[mem]; rewrite ?app_nil_r, ?mem_app';
  repeat match goal with |- context [s ?b] => destruct (s b) end; cbn -[mem];
  repeat match goal with |- context [mem ?b ?l] => destruct (mem b l) end; reflexivity.

Section Kinds.
Variables (s : state bit) (b : bit).
Lemma on_0 x W : on s (Cell 0 [[x]] [W]) b = s x && mem b W.
Proof. by_bits s. Qed.
Lemma on_1 x y W V : on s (Cell 1 [[x]; [y]] [W; V]) b = s x && mem b W || (s x || s y) && mem b V.
Proof. by_bits s. Qed.
Lemma on_3 e m i h c r W0 W1 W2 W3 W4 :
  on s (Cell 3 [[e]; [m; i]; [h; c; r]] [W0; W1; W2; W3; W4]) b =
  s e && mem b W0 || xorb (s m) (s i) && mem b W1 || (xorb (s m) (s i) || s h && negb (s c) && negb (s r)) && mem b W2
  || (s m && s i) && mem b W3 || (s r && xorb (s h) (s c)) && mem b W4.
Proof. by_bits s. Qed.
Lemma on_2 e m i h c r z W0 W1 W2 W3 W4 W5 :
  on s (Cell 2 [[e]; [m; i]; [h; c; r; z]] [W0; W1; W2; W3; W4; W5]) b =
  s e && mem b W0 || xorb (s m) (s i) && mem b W1
  || (xorb (s m) (s i) || s h && negb (s c) && negb (s r) && negb (s z)) && mem b W2
  || (s r && negb (s z) && Bool.eqb (s h) (s c)) && mem b W3 || (s r && negb (s z) && xorb (s h) (s c)) && mem b W4
  || (s r && (negb (s z) && xorb (s h) (s c) || s z && s h && s c)) && mem b W5.
Proof. by_bits s. Qed.
Lemma on_4 g k l W : on s (Cell 4 [[g]; [k; l]] [W]) b = (s g || s k && s l) && mem b W.
Proof. by_bits s. Qed.
Lemma on_5 g k l p W V :
  on s (Cell 5 [[g]; [k; l; p]] [W; V]) b = (s g || s k && s l && negb (s p)) && mem b W || (s k && s p && negb (s l)) && mem b V.
Proof. by_bits s. Qed.
Lemma on_6 x y W V : on s (Cell 6 [[x; y]] [W; V]) b = (s x && negb (s y)) && mem b W || (s x && s y) && mem b V.
Proof. by_bits s. Qed.
Lemma on_7 x y W : on s (Cell 7 [[x; y]] [W]) b = (s x && s y) && mem b W.
Proof. by_bits s. Qed.
Lemma on_8 w r e st d W V :
  on s (Cell 8 [[w; r; e]; [st; d]] [W; V]) b = (s w && negb (s e) || s st && s d) && mem b W || (s w && s r && negb (s e)) && mem b V.
Proof. by_bits s. Qed.
Lemma on_9 x c p q t u v a W0 W1 W2 W3 :
  on s (Cell 9 [[x; c; p; q]; [t; u; v]; [a]] [W0; W1; W2; W3]) b =
  (xorb (s x) (s c) && negb (s p) && negb (s q) || s a) && mem b W0 || (s x && s c && negb (s p) && negb (s q)) && mem b W1
  || (s x && negb (s c) && s p && negb (s q) || s t && negb (s u) && s v) && mem b W2
  || (s t && negb (s u) && negb (s v)) && mem b W3.
Proof. by_bits s. Qed.
Lemma on_10 x c p q t u v a W0 W1 W2 W3 W4 :
  on s (Cell 10 [[x; c; p; q]; [t; u; v]; [a]] [W0; W1; W2; W3; W4]) b =
  (xorb (s x) (s c) && negb (s p) && negb (s q) || s a) && mem b W0 || (s x && s c && negb (s p) && negb (s q)) && mem b W1
  || (s x && negb (s c) && s p && negb (s q) || s t && negb (s u) && s v) && mem b W2
  || (s t && negb (s u) && negb (s v)) && mem b W3 || s a && mem b W4.
Proof. by_bits s. Qed.
Lemma on_11 x c p q t u v a W0 W2 W3 W4 :
  on s (Cell 11 [[x; c; p; q]; [t; u; v]; [a]] [W0; W2; W3; W4]) b =
  (xorb (s x) (s c) && negb (s p) && negb (s q) || s a) && mem b W0
  || (s x && negb (s c) && s p && negb (s q) || s t && negb (s u) && s v) && mem b W2
  || (s t && negb (s u) && negb (s v)) && mem b W3 || s a && mem b W4.
Proof. by_bits s. Qed.
Definition ports_of (l : list (bool * list bit)) : bool := existsb (fun p => fst p && mem b (snd p)) l.
Definition reads (t w f : bit) (x : bool) : list bool :=
  [s t && x && negb (s w && s f); s t && x && s w && negb (s f); s t && x && s f && negb (s w)].
Definition reads' (t w f : bit) (x : bool) : list bool :=
  [s t && x && negb (s w); s t && x && s w && negb (s f); s t && x && s f && negb (s w)].
Ltac by_ports := intros; unfold on, step, cell_rules, kinds, T, F, ports_of, reads, reads'; cbn -[mem]; rewrite ?app_nil_r, ?mem_app';
  repeat match goal with |- context [s ?b] => destruct (s b) end; cbn -[mem]; rewrite ?orb_false_r, ?orb_false_l; try reflexivity.
Lemma on_12 t w f a U0 U1 U2 V0 V1 V2 :
  on s (Cell 12 [[t; w; f; a]] [U0; U1; U2; V0; V1; V2]) b =
  ports_of (combine (reads t w f (negb (s a)) ++ reads t w f (s a)) [U0; U1; U2; V0; V1; V2]).
Proof. by_ports. Qed.
Lemma on_13 t w f a a' U0 U1 U2 V0 V1 V2 X0 X1 X2 Y0 Y1 Y2 :
  on s (Cell 13 [[t; w; f; a; a']] [U0; U1; U2; V0; V1; V2; X0; X1; X2; Y0; Y1; Y2]) b =
  ports_of (combine (reads t w f (negb (s a) && negb (s a')) ++ reads t w f (s a && negb (s a')) ++ reads t w f (negb (s a) && s a') ++ reads t w f (s a && s a'))
                    [U0; U1; U2; V0; V1; V2; X0; X1; X2; Y0; Y1; Y2]).
Proof. by_ports. Qed.
Lemma on_14 t w f a a' U0 U1 U2 V0 V1 V2 X0 X1 X2 Y0 Y1 Y2 :
  on s (Cell 14 [[t; w; f; a; a']] [U0; U1; U2; V0; V1; V2; X0; X1; X2; Y0; Y1; Y2]) b =
  ports_of (combine (reads' t w f (negb (s a) && negb (s a')) ++ reads' t w f (s a && negb (s a')) ++ reads' t w f (negb (s a) && s a') ++ reads' t w f (s a && s a'))
                    [U0; U1; U2; V0; V1; V2; X0; X1; X2; Y0; Y1; Y2]).
Proof. by_ports. Qed.
Definition heard (w a x c d e : bit) (l : list bool) : bool := vec_eqb l (map s [w; a; x; c; d; e]).
Lemma on_15 w a x c d e t r W0 W1 W2 W3 W4 :
  on s (Cell 15 [[w; a; x; c; d; e]; [t; r]] [W0; W1; W2; W3; W4]) b =
  (heard w a x c d e [T;T;F;F;F;F] || heard w a x c d e [T;F;T;F;F;F] || s t && s r) && mem b W0
  || (heard w a x c d e [T;F;T;F;F;F] || s t && negb (s r)) && mem b W1 || heard w a x c d e [T;F;F;T;F;F] && mem b W2
  || heard w a x c d e [F;F;F;F;T;F] && mem b W3 || heard w a x c d e [T;F;F;F;F;T] && mem b W4.
Proof. unfold heard. by_bits s. Qed.
Lemma on_16 w a x c d e W2 W3 W4 :
  on s (Cell 16 [[w; a; x; c; d; e]] [W2; W3; W4]) b =
  heard w a x c d e [T;F;F;T;F;F] && mem b W2 || heard w a x c d e [F;F;F;F;T;F] && mem b W3 || heard w a x c d e [T;F;F;F;F;T] && mem b W4.
Proof. unfold heard. by_bits s. Qed.
End Kinds.
