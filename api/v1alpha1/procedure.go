package v1alpha1

// ProcedureType is a way to vary the load.
//
// +kubebuilder:validation:Enum=Ramp;ConstantLoad;FrameLoss;MaximumOfferedLoad;Search;BackToBack;Soak
type ProcedureType string

// The ways to vary the load. Each has a member of ProcedureSpec of its own.
const (
	// ProcedureRamp climbs a staircase to the target rate and refines what it found.
	ProcedureRamp ProcedureType = "Ramp"
	// ProcedureConstantLoad holds one rate and judges each window of it apart.
	ProcedureConstantLoad ProcedureType = "ConstantLoad"
	// ProcedureFrameLoss measures the frame loss rate at loads from the highest down: RFC 2544, section 26.3.
	ProcedureFrameLoss ProcedureType = "FrameLoss"
	// ProcedureMaximumOfferedLoad measures the forwarding rate at the maximum offered load: RFC 2285, section 3.6.2.
	ProcedureMaximumOfferedLoad ProcedureType = "MaximumOfferedLoad"
	// ProcedureSearch finds for each of several goals, such as NDR and PDR, the highest load that meets it, by finite trials.
	ProcedureSearch ProcedureType = "Search"
	// ProcedureBackToBack finds the longest burst of frames that the device carries without loss, and how much it buffers: RFC 9004.
	ProcedureBackToBack ProcedureType = "BackToBack"
	// ProcedureSoak estimates the load at which a device loses a small share of frames on average, with its uncertainty: draft-vpolak-bmwg-plrsearch.
	ProcedureSoak ProcedureType = "Soak"
)

// DirectionsVary is which directions' loads vary at a time.
//
// +kubebuilder:validation:Enum=Together;Each
type DirectionsVary string

// How the loads of several directions vary.
const (
	// DirectionsTogether has all directions climb together: the first that loses frames sets the load of all.
	DirectionsTogether DirectionsVary = "Together"
	// DirectionsEach varies one direction after another, and in the end holds all that was found at once.
	DirectionsEach DirectionsVary = "Each"
)

// ProcedureSpec is how the load is varied: a union, of whose members only the one named for type may be given.
//
// +kubebuilder:validation:XValidation:rule="self.type == 'Ramp' || !has(self.ramp)",fieldPath=".ramp",message="set type: Ramp, or remove ramp"
// +kubebuilder:validation:XValidation:rule="self.type == 'ConstantLoad' || !has(self.constantLoad)",fieldPath=".constantLoad",message="set type: ConstantLoad, or remove constantLoad"
// +kubebuilder:validation:XValidation:rule="self.type == 'FrameLoss' || !has(self.frameLoss)",fieldPath=".frameLoss",message="set type: FrameLoss, or remove frameLoss"
// +kubebuilder:validation:XValidation:rule="self.type == 'MaximumOfferedLoad' || !has(self.maximumOfferedLoad)",fieldPath=".maximumOfferedLoad",message="set type: MaximumOfferedLoad, or remove maximumOfferedLoad"
// +kubebuilder:validation:XValidation:rule="self.type == 'Search' || !has(self.search)",fieldPath=".search",message="set type: Search, or remove search"
// +kubebuilder:validation:XValidation:rule="self.type == 'BackToBack' || !has(self.backToBack)",fieldPath=".backToBack",message="set type: BackToBack, or remove backToBack"
// +kubebuilder:validation:XValidation:rule="self.type == 'Soak' || !has(self.soak)",fieldPath=".soak",message="set type: Soak, or remove soak"
// +kubebuilder:validation:XValidation:rule="self.type in ['Ramp', 'Search'] || !has(self.directions) || self.directions == 'Together'",fieldPath=".directions",message="only a ramp or a search varies one direction after another: set type: Ramp or Search, or remove directions"
// +kubebuilder:validation:XValidation:rule="!has(self.othersAt) || has(self.directions) && self.directions == 'Each'",fieldPath=".othersAt",message="othersAt is of the directions that don't vary, and all of them do: set directions: Each, or remove othersAt"
// +kubebuilder:validation:XValidation:rule="!has(self.reset) || self.type in ['FrameLoss', 'MaximumOfferedLoad', 'Search', 'BackToBack', 'Soak']",fieldPath=".reset",message="the device is reset before each trial, and this type has none: set type: Search, FrameLoss, MaximumOfferedLoad, BackToBack or Soak, or remove reset"
// +kubebuilder:validation:XValidation:rule="!has(self.latency) || self.type in ['Ramp', 'Search', 'ConstantLoad']",fieldPath=".latency",message="latency is measured at shares of a rate that the procedure finds or holds, and this type has none: set type: Search, Ramp or ConstantLoad, or remove latency"
// +kubebuilder:validation:XValidation:rule="!has(self.latency) || !has(self.directions) || self.directions == 'Together'",fieldPath=".latency",message="latency is measured at shares of one rate of all directions, and directions: Each finds one for each: remove directions or latency"
type ProcedureSpec struct {
	// type is how the load is varied. Ramp searches the highest rate that is carried, ConstantLoad holds one, FrameLoss measures the loss at
	// several, MaximumOfferedLoad what comes back of all that can be sent, Search the highest load for each of several goals (NDR, PDR),
	// BackToBack the longest burst without loss, Soak the load that loses a small share on average.
	// +optional
	// +kubebuilder:default=Ramp
	Type ProcedureType `json:"type,omitempty"`

	// ramp configures type Ramp. Default: all its defaults.
	// +optional
	Ramp RampSpec `json:"ramp,omitzero"`

	// constantLoad configures type ConstantLoad.
	// +optional
	ConstantLoad ConstantLoadSpec `json:"constantLoad,omitzero"`

	// frameLoss configures type FrameLoss.
	// +optional
	FrameLoss FrameLossSpec `json:"frameLoss,omitzero"`

	// maximumOfferedLoad configures type MaximumOfferedLoad.
	// +optional
	MaximumOfferedLoad MaximumOfferedLoadSpec `json:"maximumOfferedLoad,omitzero"`

	// search configures type Search.
	// +optional
	Search SearchSpec `json:"search,omitzero"`

	// backToBack configures type BackToBack.
	// +optional
	BackToBack BackToBackSpec `json:"backToBack,omitzero"`

	// soak configures type Soak.
	// +optional
	Soak SoakSpec `json:"soak,omitzero"`

	// directions says whose load a ramp or search varies: that of all directions Together (default; the first that loses frames sets the load
	// of all), or of Each, one after another, and then all at once. Example: Each.
	// +optional
	Directions DirectionsVary `json:"directions,omitempty"`

	// othersAt is the load of the directions that don't vary, with directions: Each, as a share of the target rate. Default: 0%. Example: 10%.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]{1,3}([.][0-9]{1,6})?%$') || double(self.replace('%', '')) <= 100.0",message="othersAt must be at most 100%: it is a share of the target rate"
	OthersAt Percent `json:"othersAt,omitempty"`

	// reset empties the device's tables before each trial, which begins once the device forwards again. Example: {command: [conntrack, -F]}.
	// +optional
	Reset *ResetSpec `json:"reset,omitempty"`

	// latency measures latency after the result, at shares of the rate that was found or held: of every frame with engine Software, of latency
	// streams with TRex. Both ends of a direction are on one machine. Example: {at: [0%, 50%, 90%], of: NDR}.
	// +optional
	Latency *LatencySpec `json:"latency,omitempty"`

	// maxLossRatio is the share of frames that may be lost at a rate that counts as carried; not for Search, BackToBack and Soak.
	// Example: "0.001".
	// +optional
	// +kubebuilder:default="0.001"
	MaxLossRatio Ratio `json:"maxLossRatio,omitempty"`
}

// LatencySpec is at which loads latency is measured: a trial at each, after the procedure has its result.
type LatencySpec struct {
	// at are the loads, as shares of the rate. 0% is 1000 frames a second in each direction, or a hundredth of the rate if that is less.
	// Example: [0%, 10%, 50%, 90%].
	// +optional
	// +listType=set
	// +kubebuilder:default={"0%","10%","50%","90%"}
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:XValidation:rule="self.all(p, !p.matches('^[0-9]{1,3}([.][0-9]{1,6})?%$') || double(p.replace('%', '')) <= 100.0)",message="a load is at most 100%: it is a share of the rate that the procedure found or held"
	At []Percent `json:"at,omitempty"`

	// of names the Search's goal whose rate is meant. Default: the first. Example: NDR.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	Of string `json:"of,omitempty"`

	// trialDuration is how long each load is sent. A percentile needs ten frames above it.
	// +optional
	// +kubebuilder:default="10s"
	TrialDuration TrialDuration `json:"trialDuration,omitempty"`
}

// ResetSpec is how the device's tables are emptied before each trial. The Reference knows how to: reset: {} is enough.
type ResetSpec struct {
	// command is run without a shell; exit code 0 is its success. With dut.type Pod it runs in a container beside the one that forwards, with
	// Device where linerate run does. Example: [ip, neigh, flush, all].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Command []CommandWord `json:"command,omitempty"`

	// image has the command, with dut.type Pod. Default: that of the container that forwards. Example: "registry.lab/tools:1".
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^ \\\\t\\\\n]*$')",message="write an image's name without spaces, such as registry.lab/tools:1"
	Image string `json:"image,omitempty"`

	// timeout bounds the command, and then the wait until the device forwards. If either takes longer, the run ends. Example: 10s.
	// +optional
	// +kubebuilder:default="30s"
	Timeout TrialDuration `json:"timeout,omitempty"`
}

// CommandWord is a program's name or one of its arguments.
//
// +kubebuilder:validation:MaxLength=1024
type CommandWord string

// RampSpec is the staircase and what follows it.
//
//	rate
//	 ▲                          ┌─┐ targetRate
//	 │                        ┌─┘ │
//	 │            stepDuration├─┘ │
//	 │                      ┌─┘   │┌┐ ┌──┐┌───┐
//	 │ warmupRate         ┌─┘     ││└┐│  ││   │
//	 │ ┌─────┐          ┌─┘       ││ └┘  ││   │
//	 └─┴─────┴──────────┴─────────┴┴─────┴┴───┴──▶ time
//	   warm-up   rampDuration     refine confirm hold
//
// +kubebuilder:validation:XValidation:rule="duration(self.settle) + duration('100ms') <= duration(self.stepDuration) || !has(self.stepDuration) || !self.stepDuration.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') || !self.settle.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') || duration(self.stepDuration) < duration('200ms')",fieldPath=".settle",message="settle must be at least 100ms shorter than stepDuration: the rest of the step is what is measured"
// +kubebuilder:validation:XValidation:rule="duration(self.rampDuration) >= duration(self.stepDuration) || !has(self.stepDuration) || !self.stepDuration.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') || !self.rampDuration.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') || duration(self.rampDuration) < duration('1s')",fieldPath=".rampDuration",message="rampDuration must be at least stepDuration: a ramp has one step or more"
type RampSpec struct {
	// warmupRate is the load of the warm-up, which fills caches and tables. Example: 1kpps.
	// +optional
	// +kubebuilder:default="1kpps"
	WarmupRate Rate `json:"warmupRate,omitempty"`

	// warmupDuration is how long the warm-up lasts; 0s: none. Example: 30s.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') || duration(self) <= duration('24h')",message="warmupDuration must be at most 24h"
	WarmupDuration Duration `json:"warmupDuration,omitempty"`

	// targetRate is the top of the ramp. Example: 100%.
	// +optional
	// +kubebuilder:default="100%"
	TargetRate Rate `json:"targetRate,omitempty"`

	// rampDuration is how long the way to the top takes. Example: 10m.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') || (duration(self) >= duration('1s') && duration(self) <= duration('24h'))",message="rampDuration must be between 1s and 24h"
	RampDuration Duration `json:"rampDuration,omitempty"`

	// stepDuration is how long each step lasts. Example: 2s.
	// +optional
	// +kubebuilder:default="2s"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') || (duration(self) >= duration('200ms') && duration(self) <= duration('1h'))",message="stepDuration must be between 200ms and 1h"
	StepDuration Duration `json:"stepDuration,omitempty"`

	// settle is the beginning of each step that isn't judged. Example: 500ms.
	// +optional
	// +kubebuilder:default="500ms"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') || duration(self) <= duration('1m')",message="settle must be at most 1m"
	Settle Duration `json:"settle,omitempty"`

	// refineTo is how narrow the bracket around the saturation is made, relative to its upper end; 0%: it isn't. Example: 0.5%.
	// +optional
	// +kubebuilder:default="0.5%"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]{1,3}([.][0-9]{1,6})?%$') || (double(self.replace('%', '')) <= 50.0 && (double(self.replace('%', '')) >= 0.01 || double(self.replace('%', '')) == 0.0))",message="refineTo must be between 0.01% and 50%, or 0% for no refinement"
	RefineTo Percent `json:"refineTo,omitempty"`

	// confirmDuration is how long the saturation is held to confirm it; 0s: not at all. Example: 10s.
	// +optional
	// +kubebuilder:default="10s"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') || duration(self) <= duration('24h')",message="confirmDuration must be at most 24h"
	ConfirmDuration Duration `json:"confirmDuration,omitempty"`

	// holdDuration is how long the target rate is held at the end; 0s: not at all. Example: 30s.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') || duration(self) <= duration('24h')",message="holdDuration must be at most 24h"
	HoldDuration Duration `json:"holdDuration,omitempty"`

	// stopAtSaturation leaves out the rest of the ramp, and the hold, once saturation is certain.
	// +optional
	StopAtSaturation bool `json:"stopAtSaturation,omitempty"`
}

// The durations of a load that is sent as it is asked for. Each is written as a Duration is, and has one rule for notation and bounds, where a Duration has
// its own and the field's: that is half as much of a schema.
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

// ConstantLoadSpec is one rate that is held, in windows that are judged apart.
//
//	rate ┤┌─────────┬────────┬────────┬────────┐
//	     ││         │ window │ window │ window │
//	     └┴─────────┴────────┴────────┴────────┴──▶ time
//	       warm-up           duration
type ConstantLoadSpec struct {
	// rate is the load that is held. Of sessions: Unlimited; with iperf3 or UDP also the payload of each direction, such as 100mbps, with UDP
	// also datagrams (10kpps).
	// +optional
	// +kubebuilder:default="100%"
	Rate HeldRate `json:"rate,omitempty"`

	// warmupDuration is how long the rate is held before anything counts; 0s: none.
	// +optional
	// +kubebuilder:default="5s"
	WarmupDuration WarmupDuration `json:"warmupDuration,omitempty"`

	// duration is how long the rate is held after the warm-up.
	// +optional
	// +kubebuilder:default="60s"
	Duration HoldDuration `json:"duration,omitempty"`

	// window is how long each part of duration that is judged apart is.
	// +optional
	// +kubebuilder:default="10s"
	Window HoldDuration `json:"window,omitempty"`
}

// FrameLossSpec is the frame loss curve of RFC 2544, section 26.3: a finite trial at each load, from the highest down.
//
//	load
//	from ┤ ┌─┐
//	     │ │ │ step
//	     │ │ │ ┌─┐
//	     │ │ │ │ │ ┌─┐
//	  to ┤ │ │ │ │ │ │ ┌─┐   or after stopAfterClean trials without loss
//	     └─┴─┴─┴─┴─┴─┴─┴─┴──▶ time
//	      trialDuration
//
// +kubebuilder:validation:XValidation:rule="['%', 'pps', 'bps', 'bpsl1'].filter(u, [self.from, self.to, self.step].exists(r, r.endsWith(u))).size() <= 1",fieldPath=".step",message="from, to and step must be in one unit, such as 2mpps, 500kpps and 100kpps"
type FrameLossSpec struct {
	// from is the highest load, tried first.
	// +optional
	// +kubebuilder:default="100%"
	From Rate `json:"from,omitempty"`

	// to is the lowest load, in the unit of from.
	// +optional
	// +kubebuilder:default="10%"
	To Rate `json:"to,omitempty"`

	// step is how much each load is below the one before, in the unit of from.
	// +optional
	// +kubebuilder:default="10%"
	Step Rate `json:"step,omitempty"`

	// warmupDuration is how long the lowest load is sent before anything counts; 0s: none.
	// +optional
	// +kubebuilder:default="5s"
	WarmupDuration WarmupDuration `json:"warmupDuration,omitempty"`

	// trialDuration is how long each load is sent.
	// +optional
	// +kubebuilder:default="60s"
	TrialDuration TrialDuration `json:"trialDuration,omitempty"`

	// stopAfterClean ends the descent after so many successive trials without loss; 0: never.
	// +optional
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	StopAfterClean *int32 `json:"stopAfterClean,omitempty"`
}

// MaximumOfferedLoadSpec is RFC 2285's forwarding rate at maximum offered load: finite trials at all that the line carries, of which the
// generators may reach less.
type MaximumOfferedLoadSpec struct {
	// rate is what is asked for; what is reached of it is the maximum offered load.
	// +optional
	// +kubebuilder:default="100%"
	Rate Rate `json:"rate,omitempty"`

	// warmupDuration is how long the rate is sent before anything counts; 0s: none.
	// +optional
	// +kubebuilder:default="5s"
	WarmupDuration WarmupDuration `json:"warmupDuration,omitempty"`

	// trialDuration is how long each trial sends.
	// +optional
	// +kubebuilder:default="60s"
	TrialDuration TrialDuration `json:"trialDuration,omitempty"`

	// trials is how many trials there are, all at the same rate.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Trials int32 `json:"trials,omitempty"`
}

// BackToBackSpec is RFC 9004's back-to-back frames: bursts of an exact number of frames, as fast as the generators send, of which the device has to carry each
// frame. The longest such burst is searched for several times, each time anew.
//
//	length
//	  longest ┤ ┌┐
//	          │ ││        both lost
//	          │ ││ ┌┐      ┌┐    ┌┐
//	          │ ││ ││ ┌┐┌┐ ││ ┌┐ ││   the longest without loss
//	          └─┴┴─┴┴─┴┴┴┴─┴┴─┴┴─┴┴──▶ bursts
//	             one search   the next
type BackToBackSpec struct {
	// rate is what bursts are asked for. Results are of the rate that is reached.
	// +optional
	// +kubebuilder:default="100%"
	Rate Rate `json:"rate,omitempty"`

	// warmupDuration is how long the rate is sent before anything counts; 0s: none.
	// +optional
	// +kubebuilder:default="5s"
	WarmupDuration WarmupDuration `json:"warmupDuration,omitempty"`

	// trialDuration is how long the trial before the bursts lasts: it shows how fast the overloaded device forwards.
	// +optional
	// +kubebuilder:default="10s"
	TrialDuration TrialDuration `json:"trialDuration,omitempty"`

	// throughput is the device's in each direction, known from another test. Default: what the trial shows. Example: 9.9kpps.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.endsWith('pps')",message="give throughput in packets per second, such as 9.9kpps: a burst is counted in frames"
	Throughput Rate `json:"throughput,omitempty"`

	// longest is the longest burst, as time at the rate that is reached: less than trialDuration.
	// +optional
	// +kubebuilder:default="2s"
	Longest BurstDuration `json:"longest,omitempty"`

	// resolution is how near the longest burst without loss and the shortest with loss come, relative to the latter.
	// +optional
	// +kubebuilder:default="1%"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]{1,3}([.][0-9]{1,6})?%$') || (double(self.replace('%', '')) <= 50.0 && double(self.replace('%', '')) >= 0.01)",message="resolution must be between 0.01% and 50%"
	Resolution Percent `json:"resolution,omitempty"`

	// repetitions is how many times the longest burst is searched for. RFC 2544 wants 50.
	// +optional
	// +kubebuilder:default=20
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Repetitions int32 `json:"repetitions,omitempty"`
}

// SoakSpec is an estimate of the critical load, at which the device loses lossRatio on average: draft-vpolak-bmwg-plrsearch. Curves of the loss ratio are fitted to all trials, and each next trial
// is where they say that it lies.
//
//	load
//	maxRate ┤┌┐
//	        │││   ┌──┐
//	        │││┌─┐│  │┌───┐     ┌────┐ critical load ± deviation
//	        ││││ ││  ││   │┌───┐│    │
//	        └┴┴┴─┴┴──┴┴───┴┴───┴┴────┴─▶ time
//	         each trial trialGrowth longer
//
// +kubebuilder:validation:XValidation:rule="!has(self.minRate) || ['%', 'pps', 'bps', 'bpsl1'].filter(u, [self.minRate, self.maxRate].exists(r, r.endsWith(u))).size() <= 1",fieldPath=".minRate",message="minRate and maxRate must be in one unit, such as 1kpps and 2mpps"
type SoakSpec struct {
	// lossRatio is the share that is lost on average at the load asked for.
	// +optional
	// +kubebuilder:default="0.0000001"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9.]+$') || (double(self) > 0.0 && double(self) <= 0.1)",message="lossRatio must be above 0 and at most 0.1"
	LossRatio Ratio `json:"lossRatio,omitempty"`

	// duration is how long all trials send, together.
	// +optional
	// +kubebuilder:default="30m"
	Duration HoldDuration `json:"duration,omitempty"`

	// firstTrial is how long the first trial sends.
	// +optional
	// +kubebuilder:default="5.1s"
	FirstTrial TrialDuration `json:"firstTrial,omitempty"`

	// trialGrowth is by how much each trial is longer than the one before.
	// +optional
	// +kubebuilder:default="100ms"
	TrialGrowth WarmupDuration `json:"trialGrowth,omitempty"`

	// minRate is the lowest load, in the unit of maxRate. Default: a hundredth of maxRate.
	// +optional
	MinRate Rate `json:"minRate,omitempty"`

	// maxRate is the highest load.
	// +optional
	// +kubebuilder:default="100%"
	MaxRate Rate `json:"maxRate,omitempty"`

	// warmupDuration is how long the lowest load is sent before anything counts; 0s: none.
	// +optional
	// +kubebuilder:default="5s"
	WarmupDuration WarmupDuration `json:"warmupDuration,omitempty"`
}

// SearchClassification says how trials decide whether a load meets a goal.
//
// +kubebuilder:validation:Enum=RFC9971;Sequential
type SearchClassification string

// How trials decide.
const (
	// ClassifyRFC9971 is multiple loss ratio search as draft-ietf-bmwg-mlrsearch has it, to be published as RFC 9971.
	ClassifyRFC9971 SearchClassification = "RFC9971"
	// ClassifySequential decides a load once its trials are one-sided enough, and ends a trial once its loss is decided: faster, and conformant to no standard.
	ClassifySequential SearchClassification = "Sequential"
)

// SearchPreset is a set of goals that a standard names.
//
// +kubebuilder:validation:Enum=RFC2544;TST009
type SearchPreset string

// The presets.
const (
	// PresetRFC2544 is one goal: nothing is lost in one trial of 60 s.
	PresetRFC2544 SearchPreset = "RFC2544"
	// PresetTST009 is one goal: nothing is lost in most trials of 60 s, of which there are two or three (ETSI GS NFV-TST 009, binary search with loss verification). Their durationSum is 130s: of 120s one bad trial, which takes
	// more than 60 s with its drain, would be more than half, and decide alone.
	PresetTST009 SearchPreset = "TST009"
)

// SearchSpec is a search for the highest load that meets each of several goals, by finite trials: draft-ietf-bmwg-mlrsearch.
//
//	load
//	     │ ┌┐                          each trial is sent, drained and counted by itself
//	     │ ││┌┐      ┌┐┌┐
//	 PDR ┤ ││││  ┌┐┌┐││││
//	 NDR ┤ ││││┌┐││││││││┌┐┌┐┌┐
//	     └─┴┴┴┴┴┴┴┴┴┴┴┴┴┴┴┴┴┴┴┴──▶ time
//
// +kubebuilder:validation:XValidation:rule="!has(self.preset) || !has(self.goals)",fieldPath=".preset",message="a preset is a set of goals: remove preset, or goals"
// +kubebuilder:validation:XValidation:rule="!has(self.minRate) || ['%', 'pps', 'bps', 'bpsl1'].filter(u, [self.minRate, self.maxRate].exists(r, r.endsWith(u))).size() <= 1",fieldPath=".minRate",message="minRate and maxRate must be in one unit, such as 1kpps and 2mpps"
type SearchSpec struct {
	// classification is how trials decide: RFC9971 (default), or Sequential, which is faster and conforms to no standard.
	// +optional
	// +kubebuilder:default=RFC9971
	Classification SearchClassification `json:"classification,omitempty"`

	// preset is a standard's goal instead of goals.
	// +optional
	Preset SearchPreset `json:"preset,omitempty"`

	// goals are what loads must meet; the result's own figures are the first's. Default: NDR (no loss) and PDR (at most 0.5%).
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Goals []SearchGoal `json:"goals,omitempty"`

	// minRate is the lowest load that is tried, in the unit of maxRate. Default: a thousandth of maxRate.
	// +optional
	MinRate Rate `json:"minRate,omitempty"`

	// maxRate is the highest load that is tried.
	// +optional
	// +kubebuilder:default="100%"
	MaxRate Rate `json:"maxRate,omitempty"`

	// warmupDuration is how long the lowest load is sent before anything counts; 0s: none.
	// +optional
	// +kubebuilder:default="5s"
	WarmupDuration WarmupDuration `json:"warmupDuration,omitempty"`
}

// SearchGoal is what a load must meet.
//
// +kubebuilder:validation:XValidation:rule="!has(self.durationSum) || !has(self.finalTrialDuration) || duration(self.durationSum) >= duration(self.finalTrialDuration)",fieldPath=".durationSum",message="durationSum must be at least finalTrialDuration: one trial, or more"
type SearchGoal struct {
	// name is the goal's name in results and criteria. Example: NDR.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?$')",message="a goal's name is letters and digits, with - _ . between them, such as NDR or pdr-0.5"
	Name string `json:"name"`

	// lossRatio is the share of frames that a trial may lose in the worst direction. Example: "0.005".
	// +optional
	// +kubebuilder:default="0"
	LossRatio Ratio `json:"lossRatio,omitempty"`

	// finalTrialDuration is how long the trials that decide last; earlier ones may be shorter.
	// +optional
	// +kubebuilder:default="1s"
	FinalTrialDuration TrialDuration `json:"finalTrialDuration,omitempty"`

	// durationSum is how long the trials at one load last together before it is decided.
	// +optional
	// +kubebuilder:default="21s"
	DurationSum TrialDuration `json:"durationSum,omitempty"`

	// exceedRatio is the share of the trials at a load that may lose more than lossRatio.
	// +optional
	// +kubebuilder:default="50%"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]{1,3}([.][0-9]{1,6})?%$') || double(self.replace('%', '')) < 100.0",message="exceedRatio must be less than 100%: else any load meets the goal"
	ExceedRatio Percent `json:"exceedRatio,omitempty"`

	// width is how far apart the highest load that meets the goal and the lowest that doesn't may be, relative to the latter.
	// +optional
	// +kubebuilder:default="0.5%"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]{1,3}([.][0-9]{1,6})?%$') || (double(self.replace('%', '')) <= 50.0 && double(self.replace('%', '')) >= 0.05)",message="width must be between 0.05% and 50%"
	Width Percent `json:"width,omitempty"`
}
