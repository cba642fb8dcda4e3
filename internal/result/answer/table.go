package answer

import "github.com/linerate-dev/linerate/internal/document/report"

// longest is how many characters a sentence has at most.
const longest = 160

// cause is what a sentence is about.
type cause struct {
	reason report.Reason
	detail report.Detail
}

// These are the details that follow from the Plan and the Answer alone, in addition to those that the windows show.
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
	allOffered      report.Detail = "AllOffered"      // generators offer as much as they can
	generatorLost   report.Detail = "GeneratorLost"   // a generator was lost in the run
	interrupted     report.Detail = "Interrupted"     // somebody ended the run
	outOfTime       report.Detail = "OutOfTime"       // the deadline ended the run
	noDevice        report.Detail = "NoDevice"        // the generators' ports are joined, and nothing is between them
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
	byTrains     = "trains"
	upperBound   = "upper bound"
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
	changesFrames   = "Look for a tunnel or an offload in the path; linerate ramp measures such a device."
	acceptLoss      = "Set[ {procedure.maxLossRatio} to] the loss that you accept."
)

// table has a row for each cause. No detail stands for each detail that has no row of its own.
func table() map[cause]row {
	return map[cause]row{
		{report.LossAboveLimit, ""}: {saturated, "above it the device {loses}.", noWayOut},
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

		{report.LossAboveLimit, noDevice}: {saturated, "this is the generators' own limit, as there is no device; above " +
			"it {loss}.", "Measure devices below it."},
		{report.TargetReached, noDevice}: {lowerBound, "without a device the generators carried all that was asked for.",
			"[Raise {target} to find their limit.]"},
		{report.GeneratorLimited, noDevice}: {lowerBound, "without a device the generators could not send or receive more.",
			"Measure devices below it."},
		{report.LoadHeld, noDevice}: {framesLost, "without a device the generators lost {lost} of this load.",
			"Measure devices at lower loads."},
		{report.CurveMeasured, noDevice}: {lossCurve, "without a device the generators lost {lost} of the highest load.",
			"Measure devices at loads without loss."},
		{report.MaximumOffered, noDevice}: {overloaded, "without a device the generators lost {lost} of all that they " +
			"could offer.", "Measure devices at lower loads."},
		{report.BurstsOnly, ""}: {saturated, "the device keeps {rates} up[ for {shown}]; after a pause a burst[ of up " +
			"to {frames} frames {direction}] is faster.", "Take {rates}."},

		{report.TargetReached, ""}: {lowerBound,
			"the device carried all that was asked for[, though up to {hidden} may " +
				"have been lost].",
			"[Raise {target} to find its limit.]"},
		{report.TargetReached, atLineRate}: {lowerBound, "the device carried all that the links carry.",
			"For the device's limit, use faster links[{smaller}]."},
		{report.TargetReached, allOffered}: {lowerBound, "the device carried all that the generators offered.",
			"Offer more, from faster generators or over faster links."},
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
		{report.GeneratorLimited, ofDatagrams}: {lowerBound, "an end could not send or receive more, and may have lost " +
			"datagrams itself.", "Give the ends processors of their own."},
		{report.GeneratorLimited, ofSessions}: {lowerBound, "an end of the connections could not send or receive more.",
			"Give the ends processors of their own."},

		{report.MachineLimited, ""}: {lowerBound, "{strangers} used the device's processor.",
			ownProcessor},
		{report.MachineLimited, report.OtherPrograms}: {lowerBound, "{strangers} used the device's processor.",
			ownProcessor},
		{report.MachineLimited, report.HostOfMachine}: {lowerBound,
			"the host of this virtual machine used the device's " +
				"processor.", "Measure where processors are not shared."},
		{report.MachineLimited, report.BelowReference}: {lowerBound, "above it this machine lost frames that the " +
			"Reference's limit lets through.", "Give the device a processor of its own."},
		{report.MachineLimited, report.CountersLate}: {lowerBound, "above it the generator's machine was too busy to report " +
			"its counters in time.", "Give the generator processors of its own."},
		{report.MachineLimited, ofSessions}: {lowerBound, "{strangers} used processors that the ends needed.",
			"{stop}, or give the ends processors of their own."},

		{report.OtherDirection, ""}: {lowerBound, "{limits} first, and {unloaded} not loaded further.", measureEach},

		{report.NearGenerators, ""}: {lowerBound,
			"without a device the generators reach little more, so they may be the " +
				"limit.", "Use faster generators, or give them processors of their own."},

		{report.Inconclusive, ""}: {lowerBound, "trials above it could not be judged.",
			"Keep other work off the processors of the test, then measure again."},
		{report.Inconclusive, report.OtherPrograms}: {lowerBound, "trials above it don't count: {strangers} used " +
			"processors of the test.", "Keep other work off them, then measure again."},
		{report.Inconclusive, report.HostOfMachine}: {lowerBound,
			"trials above it don't count: the host of this virtual " +
				"machine used processors of the test.", "Measure where processors are not shared."},
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
		{report.Inconclusive, outOfTime}: {lowerBound, "the run's time was over before the limit was found.",
			"Measure again[, with a longer {activeDeadline}]."},
		{report.Inconclusive, generatorLost}: {lowerBound, "a generator was lost before the limit was found.",
			"See its log, then measure again."},
		{report.Inconclusive, interrupted}: {lowerBound, "the run was interrupted before the limit was found.",
			"Let it run to its end."},
		{report.Inconclusive, report.LossAtEveryLoad}: {notMeasured, "the device loses {lost} of frames at every load, " +
			"more than the {limit} allowed.",
			"Find the cause, which isn't overload[, or set {procedure.maxLossRatio}: {acceptable}]."},
		{report.Inconclusive, report.EdgesHideLoss}: {notMeasured, "no load is surely clean, as frames under way may " +
			"hide more loss than the limit allows.", acceptLoss},
		{report.Inconclusive, report.SumUnjudged}: {lowerBound, "all directions' limits at once could not be judged.",
			"See the table for each direction's, or measure again."},
		{report.Inconclusive, ofSessions}: {lowerBound, "what held the connections back is not known.",
			"Give the ends processors of their own, then measure again."},

		{report.LoadHeld, ""}: {framesLost, "the device lost {lost} of this load, more than the {limit} allowed.",
			"For its limit, search (procedure.type: Search)."},
		{report.LoadHeld, report.LimitsTogether}: {framesLost, "directions lose nothing alone and {lost} together: they " +
			"share a limit.", "For it, set procedure.type: Search[, {procedure.directions}: Together]."},
		{report.CurveMeasured, ""}: {lossCurve,
			"the device lost {lost} of the highest load that was offered.",
			"See the table for the loss at each load."},
		{report.MaximumOffered, ""}: {overloaded, "the generators offered all they could, and the device lost {lost} " +
			"of it.", "For its limit, search (procedure.type: Search)."},
		{report.BurstsMeasured, ""}: {bursts, "a longer burst at this rate loses frames.",
			"For the sustained rate, search (procedure.type: Search)."},
		{report.BurstsMeasured, longestBurst}: {bursts, "the device passed the longest burst allowed.",
			"[Raise {backToBack.maxBurstDuration} to fill its buffer.]"},
		{report.TrainsMeasured, ""}: {byTrains, "frames came back to back, and the device worked them off at its own " +
			"speed.", "For the rate it carries for long, search (procedure.type: Search)."},
		{report.TrainsMeasured, report.SenderSetPace}: {upperBound, "frames left the generator no faster than they came " +
			"back, so the device may be faster.", "Give the generator processors of its own."},
		{report.TrainsMeasured, report.SenderUntimed}: {upperBound, "the generator doesn't say how fast frames left, so " +
			"the device may be faster.", "Use the software engine."},
		{report.LoadEstimated, ""}: {estimated, "the load at which {ratio} of the frames are lost on average lies in this " +
			"range, with 95 % confidence.", "Measure for longer to narrow it."},
		{report.LoadEstimated, aboveNoLoad}: {lowerBound, "no load that was offered is known to be too much.",
			"[Raise {soak.maxRate} or the duration.]"},
		{report.PathLimited, ""}: {goodput, "the path, and not the ends, limited[ {connections} of] TCP; if cables and " +
			"network cards drop nothing, the device is the limit.", noWayOut},
		{report.PathLimited, ofDatagrams}: {goodput,
			"the path, and not the ends, lost {lost} of the datagrams; if cables " +
				"and network cards drop nothing, the device lost them.", noWayOut},
		{report.PathLimited, throughEndpoint}: {goodput, "the device held the connections back, if cables and the " +
			"generator's network card drop nothing.", noWayOut},

		{report.EndpointLimited, ""}: {goodput, "the server or the path to it was the limit, and the generator was not; the " +
			"server does not report which.", "See the evidence."},
		{report.EndpointLimited, ofDatagrams}: {goodput, "the path or the server's own sockets lost {lost} of the " +
			"datagrams; the server does not report which.", "Look at UdpRcvbufErrors there (nstat -az)."},

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
		{report.NotHeld, report.OtherPrograms}: {notHeld, "{strangers} used processors of the test" +
			"[; {judged} of {held} could be judged].", "Keep other work off them, then measure again."},
		{report.NotHeld, report.HostOfMachine}: {notHeld,
			"the host of this virtual machine used its processors[; {judged} " +
				"of {held} could be judged].", "Measure where processors are not shared."},
		{report.NotHeld, report.SentInBursts}: {notHeld, "the generator sent in bursts, or stood still[; {judged} of " +
			"{held} could be judged].", "Give it processors of its own."},
		{report.NotHeld, report.CountersLate}: {notHeld, "the generator's machine was too busy to report its counters in " +
			"time[; {judged} of {held} could be judged].", "Give it processors of its own."},
		{report.NotHeld, report.PartlyJudged}: {notHeld, "only {judged} of {held} could be judged.",
			"See why in the evidence, then measure again."},
		{report.NotHeld, report.LostInBetween}: {notHeld, "frames were lost {direction} between the windows.",
			"See what the device did then, and measure again."},
		{report.DeviceLost, ""}: {deviceLost,
			"the device stopped forwarding {direction} {after} into traffic, for good.",
			"See if the device restarted or lost a link, then measure again."},
		{report.DeviceLost, report.ForwardsAgain}: {deviceLost,
			"nothing came back {direction} for at least {lasted}, {after} into traffic.",
			"See if the device restarted or lost a link, then measure again."},

		{report.NoCleanLoad, ""}: {notMeasured, "the device lost frames at the lowest load already[, {rate}].",
			"Look for the cause, or begin with a lower load."},
		{report.NoCleanLoad, report.LossAtEveryLoad}: {notMeasured,
			"the device loses {lost} of frames at every load, " +
				"more than the {limit} allowed.",
			"Find the cause, which isn't overload[, or set {procedure.maxLossRatio}: {acceptable}]."},
		{report.NoCleanLoad, report.NothingJudged}: {notMeasured, "no load could be judged.",
			"Keep other work off the processors, then measure again."},
		{report.NotMeasured, ""}: {notMeasured, "the run ended before anything could be judged.", "Measure again."},
		{report.NotMeasured, generatorLost}: {notMeasured, "a generator was lost before anything was judged.",
			"See its log, then measure again."},
		{report.NotMeasured, interrupted}: {notMeasured, "the run was interrupted before anything was judged.",
			"Let it run to its end."},
		{report.NotMeasured, outOfTime}: {notMeasured, "the run's time was over before anything was judged.",
			"Measure again[, with a longer {activeDeadline}]."},
		{report.NotMeasured, report.BackgroundTraffic}: {notMeasured, "other traffic on link {link} hides more loss than " +
			"is allowed.", "Keep that traffic off the link[, or raise {procedure.maxLossRatio}]."},
		{report.NotMeasured, report.FramesLinger}: {notMeasured, "frames take {lasted} through the device, longer than a " +
			"load settles.", "[Set {ramp.settleDuration} to {settle}.]"},
		{report.NotMeasured, report.OtherPrograms}: {notMeasured, "{strangers} used processors of the test.",
			"Keep other work off them, then measure again."},
		{report.NotMeasured, report.HostOfMachine}: {notMeasured,
			"the host of this virtual machine used its processors.",
			"Measure where processors are not shared."},
		{report.NotMeasured, report.SentInBursts}: {notMeasured, "the generator sent in bursts, or stood still.",
			"Give it processors of its own."},
		{report.NotMeasured, report.CountersLate}: {notMeasured, "the generator's machine was too busy to report its " +
			"counters in time.", "Give it processors of its own."},
		{report.NotMeasured, report.NothingReturned}: {notMeasured,
			"nothing of the load came back {direction}, though " +
				"single frames did.", "See what the device does under load."},
		{report.NotMeasured, report.NobodyAnswers}: {notMeasured,
			"nobody answers for[ {address},] the device's address on " +
				"link {link}.", "[Is it a bridge? Set {dut.forwarding}: L2. ]Another address?[ {links.dut.address}.]"},
		{report.NotMeasured, report.FrameTooLong}: {notMeasured, "{length}-byte frames don't fit link {link}.",
			"Raise the MTU of its ports to {mtu}, the device's too, or send smaller frames."},
		{report.NotMeasured, report.AnswersUntagged}: {notMeasured, "the device answers on link {link} without a VLAN " +
			"tag, though the test has one.", "Tag the device's port[, or remove {links.vlan}]."},
		{report.NotMeasured, report.AnswersInVLAN}: {notMeasured, "the device answers on link {link} in the VLAN of " +
			"another link.", "Correct the VLANs of the device's ports[, or {links.vlan}]."},
		{report.NotMeasured, report.PortsSwapped}: {notMeasured, "link {link} leads to the device's port for another " +
			"link.", "Swap the cables, or the order of the generator's ports."},
		{report.NotMeasured, report.RoutedBack}: {notMeasured, "the device sends frames for {direction} back to link " +
			"{link}.", "Correct its routes, or see if cables are swapped."},
		{report.NotMeasured, report.FramesReflected}: {notMeasured, "frames sent on link {link} came back on it " +
			"unchanged.", "Look for a looped cable, or a device that sends back what it receives."},
		{report.NotMeasured, report.OtherPort}: {notMeasured, "frames for {direction} came out at a port of another link.",
			"Check the cables and the device's routes."},
		{report.NotMeasured, report.DeviceBypassed}: {notMeasured, "no router forwarded the frames {direction}, as their " +
			"MACs and TTL are unchanged.", "Check the cables[; for a bridge, set {dut.forwarding}: L2]."},
		{report.NotMeasured, report.FramesRepeated}: {notMeasured, "frames {direction} arrived more than once.",
			"Look for a loop, or for a second path between the links."},
		{report.NotMeasured, report.OtherRouters}: {notMeasured, "the TTL shows that {routers} forwarded the frames " +
			"{direction}.", "[If all are under test, set {dut.hops}: {hops}; otherwise ]check the path."},
		{report.NotMeasured, report.ReplacesMACs}: {notMeasured, "the device leaves the TTL {direction} as it was, so it " +
			"does not route.", "Make it route[, or set {dut.forwarding}: MACRewrite]."},
		{report.NotMeasured, report.LowersTTL}: {notMeasured, "the device lowers the TTL {direction}, so it routes and " +
			"is no bridge.", "[Set {dut.forwarding}: L3, or ]make it a bridge."},
		{report.NotMeasured, report.PassedNoRouter}: {notMeasured, "connections {direction} passed no router, by their " +
			"TTL.", "Check the cables[; for a bridge, set {dut.forwarding}: L2]."},
		{report.NotMeasured, report.OtherTTL}: {notMeasured, "frames {direction} arrive with a TTL that the device should " +
			"not give them.", "Check how it forwards, and what else is in the path."},
		{report.NotMeasured, report.OtherMACs}: {notMeasured, "frames {direction} arrive with MACs that the device should " +
			"not give them.", "Check which device forwards them."},
		{report.NotMeasured, report.UnknownSource}: {notMeasured, "frames {direction} come from[ {address},] a MAC " +
			"that is not the device's.", "See whose it is[; if its own, add it to {links.dut.sourceMACs}]."},
		{report.NotMeasured, report.OtherAddresses}: {notMeasured, "the device gives frames {direction} other IP " +
			"addresses than the test expects.", "Correct the device's NAT, or the test's."},
		{report.NotMeasured, report.UndeclaredChange}: {notMeasured, "the device changes frames {direction} as no " +
			"field declares[: they arrive {found}].", "Correct the device[, or add {change} to {dut.changes}]."},
		{report.NotMeasured, report.WrongTranslation}: {notMeasured, "the device translates {direction} wrongly" +
			"[: {found}].", "Correct the device's translation."},
		{report.NotMeasured, report.Fragments}: {notMeasured, "the device fragments {mtu}-byte packets, as its MTU " +
			"towards {link} is smaller.", "Raise that MTU to {mtu}, or send smaller frames."},
		{report.NotMeasured, report.FramesResized}: {notMeasured, "frames {direction} arrive longer or shorter than sent.",
			changesFrames},
		{report.NotMeasured, report.PayloadChanged}: {notMeasured, "frames {direction} arrive with another content.",
			changesFrames},
		{report.NotMeasured, report.ChecksumWrong}: {notMeasured, "frames {direction} arrive with a wrong checksum.",
			"Switch off checksum offload of the device's ports (ethtool -K)."},
		{report.NotMeasured, report.NothingForwarded}: {notMeasured, "the device forwarded no frame {direction}.",
			"Check that it is up, forwards, and has routes and neighbours for the test's addresses."},
		{report.NotMeasured, report.NothingBridged}: {notMeasured, "the bridge forwarded no frame {direction}.", "Put both " +
			"links into one bridge or VLAN[; for spanning tree, set {dut.readyDelay}: 60s]."},
		{report.NotMeasured, report.SomeForwarded}: {notMeasured, "the device forwarded some flows {direction}, and others " +
			"not.", "Check its routes, filters and neighbours for all of the test's addresses."},
		{report.NotMeasured, report.OwnDestination}: {notMeasured, "a stream on link {link} has a destination MAC that is " +
			"not the device's.", "Give it the device's MAC, or set the stream's flags to 0."},
		{report.NotMeasured, report.StreamChecksum}: {notMeasured, "a stream on link {link} sends a wrong IPv4 header " +
			"checksum, which routers drop.", "Correct packet.binary, or add fix_checksum_ipv4."},
		{report.NotMeasured, report.TTLTooSmall}: {notMeasured, "the TTL of frames {direction} ends before they arrive.",
			"Send them with a larger TTL, or look for a routing loop."},
		{report.NotMeasured, report.NothingToMark}: {notMeasured, "no stream on link {link} has a frame to prove the path " +
			"with.", "Send IPv4 or IPv6 frames."},
		{report.NotMeasured, report.NoRoute}: {notMeasured, "the device has no route[ to {address}].",
			"Give it one that leads to link {link}: linerate routes FILE prints it."},
		{report.NotMeasured, report.NoNeighbour}: {notMeasured, "nobody answers for the next hop of the device's route" +
			"[ to {address}].", "Make that hop the generator's address on link {link}."},
		{report.NotMeasured, report.Prohibited}: {notMeasured, "the device's filter forbids frames[ to {address}].",
			"Allow them for {direction}."},
		{report.NotMeasured, report.PacketTooBig}: {notMeasured, "{mtu}-byte packets do not fit the device's MTU towards " +
			"{link}.", "Raise that MTU to {mtu}, or send smaller frames."},
		{report.NotMeasured, report.OwnAddress}: {notMeasured, "the device rejects frames[ to {address}], as its own " +
			"address or by a filter.", "Send to hosts behind link {link}, or allow the frames."},
		{report.NotMeasured, report.BadHeader}: {notMeasured, "the device does not understand the headers of frames " +
			"{direction}.", "Correct the test's streams."},
		{report.NotMeasured, report.Refused}: {notMeasured, "the device refuses to forward frames[ to {address}].",
			"See its ICMP error in the evidence."},
		{report.NotMeasured, report.NotReset}: {notMeasured, "the device did not forward {direction} again after its " +
			"reset.", "Give it more time[ ({procedure.reset.timeout})], or correct the reset."},
		{report.NotMeasured, report.NotConnected}: {notMeasured, "connections {direction} did not come through the device.",
			"Check that it forwards, and that no filter blocks port {port}."},
		{report.NotMeasured, report.ServerBusy}: {notMeasured, "the server at {address} ran other tests for {lasted}.",
			"Wait for their end, or start a second server on a port of its own (iperf3 -s -p 5202)."},
		{report.NotMeasured, report.EndpointSilent}: {notMeasured, "the device does not answer connections on link {link}.",
			"Check the cable, and that nothing there blocks port {port}."},
		{report.NotMeasured, report.TTLNotKept}: {notMeasured, "the receiver's kernel keeps no TTL, which would prove " +
			"{direction}.", "Use a kernel that has TCP_SAVED_SYN."},
		{report.NotMeasured, report.NoBurstSearched}: {notMeasured,
			"the device lost nothing of the bursts' rate, so no " +
				"burst fills its buffer.", "[Raise {backToBack.rate}.]"},
	}
}
