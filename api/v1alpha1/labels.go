package v1alpha1

// LabelProduct names the device under test in tables of many tests: the row ("VPP", "OpenBSD-7.9"). Without it the row is named
// after spec.dut.type.
const LabelProduct = "linerate.dev/product"

// LabelLoadTest names the load in tables of many tests: the column ("imix", "64b"). Without it the column is named after
// spec.traffic.
const LabelLoadTest = "linerate.dev/loadtest"
