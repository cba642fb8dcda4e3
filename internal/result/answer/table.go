package answer

import "github.com/linerate-dev/linerate/internal/document/report"

// longest is how many characters a sentence has at most.
const longest = 160

// cause is what a sentence is about.
type cause struct {
	reason report.Reason
	detail report.Detail
}

// These are the details that follow from the Plan and the Result alone, in addition to those that the windows show.
const (
	notConfirmed    report.Detail = "NotConfirmed"    // no longer window held the figure
	ownKernel       report.Detail = "OwnKernel"       // the device is this machine's kernel
	hiddenDrops     report.Detail = "HiddenDrops"     // a generator's port doesn't count what it drops
	atLineRate      report.Detail = "AtLineRate"      // the load was all that the links carry
	loadHeld        report.Detail = "LoadHeld"        // one load was asked for, and no limit
	ofSessions      report.Detail = "OfSessions"      // traffic is TCP connections
	ofDatagrams     report.Detail = "OfDatagrams"     // traffic is datagrams of UDP
	throughEndpoint report.Detail = "ThroughEndpoint" // the device is an end of the sessions
	aboveNoLoad     report.Detail = "AboveNoLoad"     // no load that was offered is known to be too much
	severalLimits   report.Detail = "SeveralLimits"   // directions were measured one after another
	longestBurst    report.Detail = "LongestBurst"    // the longest burst allowed lost nothing
)

// row is how a cause reads. A brace has a value, or the name of a LoadTest's field. Square brackets enclose
// what is left out where a value in it is unknown, or where the field can't be set.
type row struct {
	// standing is what kind of answer there is, in a word or two.
	standing string
	// says what set the figure.
	says string
	// wayOut is what to do. It is noWayOut where nothing needs to be done.
	wayOut string
}

// noWayOut is the way out of an answer that needs none.
const noWayOut = ""

// The kinds of answers, which begin a sentence where the first line has a figure.
const (
	saturated    = "saturated"
	lowerBound   = "lower bound"
	unconfirmed  = "not confirmed"
	framesLost   = "frames lost"
	lossCurve    = "loss curve"
	overloaded   = "overloaded"
	bursts       = "bursts"
	estimated    = "estimated"
	goodput      = "goodput"
	notHeld      = "not held"
	deviceLost   = "device lost"
	notMeasured  = "not measured"
	carriedWhole = "carried"
)

// Ways out that several causes have.
const (
	ownProcessor    = "{stop}, or give the device a processor of its own."
	fasterGenerator = "Give it processors of its own, or use a faster one."
	measureAgain    = "Then measure again."
	measureEach     = "Measure each direction alone[ ({procedure.directions}: Each)]."
	acceptLoss      = "Set[ {procedure.maxLossRatio} to] the loss that you accept."
)

// table has a row for each cause. No detail stands for each detail that has no row of its own.
func table() map[cause]row {
	return map[cause]row{
		{report.LossAboveLimit, ""}: {saturated, "above it {loss}.", noWayOut},
		{report.LossAboveLimit, ownKernel}: {saturated,
			"this machine's kernel forwards no more, as the Reference has " +
				"no limit; above it {loss}.", noWayOut},
		{report.LossAboveLimit, hiddenDrops}: {saturated,
			"above it {loss}, by the device or by ports of the generator " +
				"that don't count what they drop.", noWayOut},
		{report.LossAboveLimit, notConfirmed}: {unconfirmed, "short windows show the device's limit here, but it was " +
			"not held for {confirmation}[ ({ramp.confirmDuration})].", "Measure again[, with a longer {deadline}]."},
		{report.LossAboveLimit, severalLimits}: {saturated,
			"each direction is at its limit, and the device carries all " +
				"of them at once.", noWayOut},
		{report.LossAboveLimit, report.CarriedLessLater}: {saturated, "later the device carried less[, {rate} " +
			"{direction}].", "Hold it for longer to see what the device keeps up."},
		{report.LossAboveLimit, report.CarriedLessEarlier}: {saturated, "earlier the device carried less[, {rate} " +
			"{direction}].", "See what it was busy with, then measure again."},
		{report.LossAboveLimit, report.CarriedLessNowAndThen}: {saturated, "now and then the device carried less[, " +
			"{rate} {direction}].", "See what it was busy with, then measure again."},
		{report.LossAboveLimit, report.CarriedLessAfterLoad}: {saturated,
			"after an overload the device carries less[, " +
				"{rate} {direction}], as a policer does.", "Take that rate as its limit."},

		{report.BurstsOnly, ""}: {saturated, "carried[ for {shown}] without pause; faster traffic passes only in " +
			"bursts[ of up to {frames} frames] after a pause.", noWayOut},

		{report.TargetReached, ""}: {lowerBound,
			"the device carried all that was asked for[, though up to {hidden} may " +
				"have been lost].",
			"[Raise {target} to find its limit.]"},
		{report.TargetReached, atLineRate}: {lowerBound, "the device carried all that the links carry.",
			"For the device's limit, use faster links[{smaller}]."},
		{report.TargetReached, loadHeld}: {carriedWhole,
			"the device carried this load[, though up to {hidden} may have been lost].",
			noWayOut},
		{report.TargetReached, ofSessions}: {lowerBound, "all that was asked for came through.",
			"[Raise {target}, or leave it out, to find the limit.]"},
		{report.TargetReached, severalLimits}: {lowerBound, "the device carried all that was asked for in some " +
			"direction.", "[Raise {target} to find its limit.]"},

		{report.GeneratorLimited, ""}: {lowerBound, "the generator could not send or receive more.", fasterGenerator},
		{report.GeneratorLimited, report.SentInBursts}: {lowerBound,
			"above it the generator sent in bursts, so losses " +
				"there may not be the device's limit.", "Give it processors of its own."},
		{report.GeneratorLimited, report.SentUnwatched}: {lowerBound,
			"above it the generator may have sent in bursts, " +
				"unseen.", "Give it processors of its own."},
		{report.GeneratorLimited, report.SendingQueueFull}: {lowerBound, "the generator's port took no more frames.",
			"Check the card and the link's speed, or use a faster one."},
		{report.GeneratorLimited, ofSessions}: {lowerBound, "an end of the connections could not send or receive more.",
			"Give the ends processors of their own."},

		{report.MachineLimited, ""}: {lowerBound, "{strangers} had the device's processor.",
			ownProcessor},
		{report.MachineLimited, report.OtherPrograms}: {lowerBound, "{strangers} had the device's processor.",
			ownProcessor},
		{report.MachineLimited, report.HostOfMachine}: {lowerBound,
			"the host of this virtual machine had the device's " +
				"processor.", "Measure where processors are not shared."},
		{report.MachineLimited, report.BelowReference}: {lowerBound, "above it this machine lost frames that the " +
			"Reference's limit lets through.", "Give the device a processor of its own."},
		{report.MachineLimited, ofSessions}: {lowerBound, "{strangers} had processors that the ends needed.",
			"{stop}, or give the ends processors of their own."},

		{report.OtherDirection, ""}: {lowerBound, "{limits} first, and {unloaded} not loaded further.", measureEach},

		{report.NearGenerators, ""}: {lowerBound,
			"without a device the generators reach little more, so they may be the " +
				"limit.", "Use faster generators, or give them processors of their own."},

		{report.Inconclusive, ""}: {lowerBound, "trials above it could not be judged.",
			"Keep other work off the processors of the test, then measure again."},
		{report.Inconclusive, report.OtherPrograms}: {lowerBound, "trials above it don't count: {strangers} had " +
			"processors of the test.", "Keep other work off them, then measure again."},
		{report.Inconclusive, report.HostOfMachine}: {lowerBound,
			"trials above it don't count: the host of this virtual " +
				"machine had processors of the test.", "Measure where processors are not shared."},
		{report.Inconclusive, report.LossUnattributed}: {lowerBound, "frames were lost just above it, but not surely " +
			"of one direction alone.", measureEach},
		{report.Inconclusive, report.LossNotRepeated}: {lowerBound,
			"above it the device lost frames in one trial and " +
				"not in the next.", "Measure again, with longer trials."},
		{report.Inconclusive, report.OthersHeldAbove}: {lowerBound,
			"the other directions were held at more than they " +
				"carry.", "[Lower {procedure.otherLoad}.]"},
		{report.Inconclusive, report.LossMayBeTesters}: {lowerBound, "part of the loss may be the generator's own.",
			"Give it processors of its own, then measure again."},
		{report.Inconclusive, report.CutShort}: {lowerBound, "the run ended before the limit was found.",
			"Measure again[, with a longer {activeDeadline}]."},
		{report.Inconclusive, report.EdgesHideLoss}: {notMeasured, "no load is surely clean, as frames under way may " +
			"hide more loss than the limit allows.", acceptLoss},
		{report.Inconclusive, severalLimits}: {lowerBound, "all directions' limits at once could not be judged.",
			"See the table for each direction's, or measure again."},
		{report.Inconclusive, ofSessions}: {lowerBound, "what held the connections back is not known.",
			"Give the ends processors of their own, then measure again."},

		{report.LoadHeld, ""}: {framesLost, "the device lost {lost} of this load, more than the {limit} allowed.",
			"For its limit, search (procedure.type: Search)."},
		{report.LoadHeld, report.LimitsTogether}: {framesLost, "at once the device doesn't carry what each direction " +
			"carries alone: it lost {lost}.", "Take this as what all share."},
		{report.CurveMeasured, ""}: {lossCurve,
			"the device lost {lost} of the highest load. The loss at each load is " +
				"listed below.", noWayOut},
		{report.MaximumOffered, ""}: {overloaded, "the generators offered all they could, and the device lost {lost} " +
			"of it.", "For its limit, search (procedure.type: Search)."},
		{report.BurstsMeasured, ""}: {bursts, "the device passes[ {frames} frames] at once without loss, then its " +
			"buffer is full.", noWayOut},
		{report.BurstsMeasured, longestBurst}: {bursts, "the device passed the longest burst allowed.",
			"[Raise {backToBack.maxBurstDuration} to fill its buffer.]"},
		{report.LoadEstimated, ""}: {estimated, "at this load {ratio} of the frames are lost on average, with 95 % " +
			"confidence.", noWayOut},
		{report.LoadEstimated, aboveNoLoad}: {lowerBound, "no load that was offered is known to be too much.",
			"[Raise {soak.maxRate} or the duration.]"},
		{report.PathLimited, ""}: {goodput, "the path, and not the ends, limited[ {connections} of] TCP; if cables and " +
			"network cards drop nothing, the device is the limit.", noWayOut},
		{report.PathLimited, ofDatagrams}: {goodput,
			"the path, and not the ends, lost {lost} of the datagrams; if cables " +
				"and network cards drop nothing, the device lost them.", noWayOut},
		{report.PathLimited, throughEndpoint}: {goodput, "the device held the connections back, if cables and the " +
			"generator's network card drop nothing.", noWayOut},

		{report.NotHeld, ""}: {notHeld, "part of the load could not be judged.",
			"See why in the evidence, then measure again."},
		{report.NotHeld, report.LinkDown}: {notHeld,
			"link {link} went down {after} after traffic began, and stayed down.",
			"See why, then measure again."},
		{report.NotHeld, report.LinkBack}: {notHeld, "link {link} went down {after} after traffic began, for {lasted}.",
			"See why, then measure again."},
		{report.NotHeld, report.LinkFlapped}: {notHeld, "link {link} changed its state {after} after traffic began.",
			"See why, then measure again."},
		{report.NotHeld, report.EndsWaited}: {notHeld,
			"nothing came back {direction} for {lasted}, while the ends waited " +
				"for processors.", "Give the ends processors of their own."},
		{report.NotHeld, report.OtherPrograms}: {notHeld, "{strangers} had processors of the test" +
			"[; {judged} of {held} could be judged].", "Keep other work off them, then measure again."},
		{report.NotHeld, report.HostOfMachine}: {notHeld,
			"the host of this virtual machine had its processors[; {judged} " +
				"of {held} could be judged].", "Measure where processors are not shared."},
		{report.NotHeld, report.SentInBursts}: {notHeld, "the generator sent in bursts, or stood still[; {judged} of " +
			"{held} could be judged].", "Give it processors of its own."},
		{report.NotHeld, report.PartlyJudged}: {notHeld, "only {judged} of {held} could be judged.",
			"See why in the evidence, then measure again."},
		{report.NotHeld, report.LostInBetween}: {notHeld, "frames were lost {direction} between the windows.",
			"See what the device did then, and measure again."},
		{report.DeviceLost, ""}: {deviceLost,
			"the device stopped forwarding: {after} into traffic, nothing came back " +
				"{direction} for {lasted}.", "See if the device restarted, then measure again."},

		{report.NoCleanLoad, ""}: {notMeasured, "the device lost frames at the lowest load already[, {rate}].",
			"Look for the cause, or begin with a lower load."},
		{report.NoCleanLoad, report.LossAtEveryLoad}: {notMeasured,
			"the device loses {lost} of frames at every load, " +
				"more than the {limit} allowed.",
			"Find the cause, which isn't overload[, or set {procedure.maxLossRatio}: {acceptable}]."},
		{report.NoCleanLoad, report.NothingJudged}: {notMeasured, "no load could be judged.",
			"Keep other work off the processors, then measure again."},
		{report.NotMeasured, ""}: {notMeasured, "the run ended before anything could be judged.", "Measure again."},
		{report.NotMeasured, report.OtherPrograms}: {notMeasured, "{strangers} had processors of the test.",
			"Keep other work off them, then measure again."},
		{report.NotMeasured, report.HostOfMachine}: {notMeasured,
			"the host of this virtual machine had its processors.",
			"Measure where processors are not shared."},
		{report.NotMeasured, report.SentInBursts}: {notMeasured, "the generator sent in bursts, or stood still.",
			"Give it processors of its own."},
		{report.NotMeasured, report.NothingReturned}: {notMeasured,
			"nothing of the load came back {direction}, though " +
				"single frames did.", "See what the device does under load."},
		{report.NotMeasured, report.NobodyAnswers}: {notMeasured,
			"nobody answers for[ {address},] the device's address on " +
				"link {link}.", "[Is it a bridge? Set {dut.forwarding}: L2. ]Another address?[ {links.dut.address}.]"},
		{report.NotMeasured, report.FrameTooLong}: {notMeasured, "{length}-byte frames don't fit link {link}.",
			"Raise the MTU of its ports to {mtu}, the device's too, or send smaller frames."},
		{report.NotMeasured, report.NoBurstSearched}: {notMeasured,
			"the device lost nothing of the bursts' rate, so no " +
				"burst fills its buffer.", "[Raise {backToBack.rate}.]"},
	}
}
