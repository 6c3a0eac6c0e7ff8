(** The integer network with sha256 {{network.digest}}{{"\n    from the file with sha256 " ~ file_sha256 if file_sha256}}.
    The sha256 of its tensors, row by row, lowest byte first:{% for name, digest in network.tensors_sha256.items() %}{{"\n    " ~ name}} {{digest}}{% endfor %}

    It was trained for the pattern {{network.origin.program_id}}. Written by bitwright.
    Rocq reads names three times as fast as numerals; weights are therefore named: p43 is 43, m43 is -43. *)
From Coq Require Import List ZArith Bool.
From Bitwright Require Import Rules.
Import ListNotations.

Definition kinds : pattern :=
  {{kinds|lines}}.

Local Open Scope Z_scope.
{% for weight in weights %}
Definition {{weight|weight}} := {{weight}}.
{% endfor %}
{% for name, rows in tensors %}
Definition {{name}} : list (list Z) :=
  {{rows|lines}}.

{% endfor %}
Close Scope Z_scope.
Definition net : network := Network first last thresholds.

(** The kernel evaluates the network in all {{states}} local states{{", with machine integers:\n    this relies on the standard library's axioms about them" if large}}. *)
{{"From Bitwright Require Fast.\n" if large}}Theorem net_right : right net kinds = true.
Proof. {{"apply Fast.right_fast_ok. " if large}}vm_cast_no_check (eq_refl true). Qed.

Theorem kinds_proper : forallb proper kinds = true.
Proof. vm_compute. reflexivity. Qed.
