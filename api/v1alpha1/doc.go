// Package v1alpha1 is the API of linerate.dev: what people write in a LoadTest, and what they read in its status.
//
// Fields that are quantities are strings in people's own notation ("1kpps", "10m", "0.001"), checked by the schema, so that an object
// shows what its author wrote and no stored value can break a reader. Counts and rates in status are integers with the unit in the
// name; ratios and percents are decimal strings. There are no floats.
//
// A value enters an enum in the commit that implements it.
//
// +kubebuilder:object:generate=true
// +groupName=linerate.dev
package v1alpha1
