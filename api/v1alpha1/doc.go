// Package v1alpha1 is the API of linerate.dev: what people write in a LoadTest, and what they read in its status.
//
// Fields that are quantities are strings in people's own notation ("1kpps", "10m", "0.001"), checked by the
// schema, so that an object shows what its author wrote and no stored value can break a reader. Counts and
// rates in status are integers with the unit in the name; ratios and percents are decimal strings. There are no
// floats.
//
// A value enters an enum in the commit that implements it.
//
// Rules (CEL) are evaluated at every write, also of a status alone. Each time a rule reads a field, the API
// server lists all fields of the object that has it, twice; spec has the most. So a rule begins with the test
// that decides it for most LoadTests, and reads an optional field only once (self.?role.orValue('Forwarder')).
// An operand of || that can't be evaluated, such as duration('soon'), counts only where no other operand is true:
// a rule about two durations compares them first, and leaves text that isn't a duration to the rule for that. A
// rule stands at the smallest object that has all fields it reads. BenchmarkRules in internal/compile/admission
// shows what all of them cost.
//
// +kubebuilder:object:generate=true
// +groupName=linerate.dev
package v1alpha1
