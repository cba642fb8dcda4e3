package v1alpha1

// LabelProduct names the device under test in tables of many tests: the row ("VPP", "OpenBSD-7.9"). Without it the row is named
// after spec.dut.type.
const LabelProduct = "linerate.dev/product"

// LabelLoadTest names the load in tables of many tests: the column ("imix", "64b"). Without it the column is named after
// spec.traffic.
const LabelLoadTest = "linerate.dev/loadtest"

// LabelTest is on every object that belongs to a LoadTest: its name.
const LabelTest = "linerate.dev/test"

// LabelUID is on every object that belongs to a LoadTest: its UID, so that a LoadTest of the same name that came later owns nothing of it.
const LabelUID = "linerate.dev/test-uid"

// LabelRole is on every object that belongs to a LoadTest: generator, dut, setup, teardown, runner, plan, links, progress or report.
const LabelRole = "linerate.dev/role"

// LabelAttempt is on every object that belongs to one attempt of a LoadTest: its number.
const LabelAttempt = "linerate.dev/attempt"

// LabelGenerator is on a generator's pod: the generator's name in the Plan.
const LabelGenerator = "linerate.dev/generator"
