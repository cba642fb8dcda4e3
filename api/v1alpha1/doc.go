// Package v1alpha1 is the API of linerate.dev: what people write in a LoadTest, and what they read in its status.
//
// Fields that are quantities are strings in people's own notation ("1kpps", "10m", "0.001"), checked by the schema, so that an object
// shows what its author wrote and no stored value can break a reader. Counts and rates in status are integers with the unit in the
// name; ratios and percents are decimal strings. There are no floats.
//
// A value enters an enum in the commit that implements it.
//
// Rules (CEL) are evaluated at every write, of a status alone, too, and each look at a field costs an API server a list of all fields of the
// object that it is in, twice: spec's is the longest. So what decides a rule for most LoadTests comes first in it, and a field that may not be
// there is looked at once (self.?type.orValue('unsaid'), a word that no enum has). A side of || that can't be evaluated, such as
// duration('soon'), counts only where no other side is true: a rule about two durations compares them first, and leaves those that are none to
// the rule that says so. A rule stands at the smallest object that has all it speaks of, unless that object's default would break it (dut: {}
// has no type). BenchmarkRules in internal/admission tells what all of them cost.
//
// +kubebuilder:object:generate=true
// +groupName=linerate.dev
package v1alpha1
