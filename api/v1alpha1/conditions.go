package v1alpha1

// ConditionAccepted is True when the spec can be measured, False when it can't: the message says which field, and the way out.
const ConditionAccepted = "Accepted"

// ConditionComplete is True at the end of every test, good or bad; an invalid one is complete at once.
const ConditionComplete = "Complete"

// ConditionPassed is the criteria's verdict: True when all are met, False when one isn't, Unknown when there are none or there is
// nothing to judge.
const ConditionPassed = "Passed"
