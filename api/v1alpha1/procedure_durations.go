package v1alpha1

// The durations of a load that is sent as it is asked for. Each is written as a Duration is, and has one rule
// for notation and bounds, where a Duration has its own and the field's: that is half as much of a schema.
type (
	// WarmupDuration is up to an hour; 0s: none.
	//
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') && duration(self) <= duration('1h')",message="write a duration of at most 1h with its unit, such as 5s, or 0s for none"
	WarmupDuration string

	// TrialDuration is a second to an hour.
	//
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('1h')",message="write a duration between 1s and 1h with its unit, such as 60s"
	TrialDuration string

	// BurstDuration is a millisecond to a minute.
	//
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') && duration(self) >= duration('1ms') && duration(self) <= duration('1m')",message="write a duration between 1ms and 1m with its unit, such as 2s"
	BurstDuration string

	// HoldDuration is a second to a week.
	//
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('168h')",message="write a duration between 1s and 168h with its unit, such as 60s"
	HoldDuration string
)
