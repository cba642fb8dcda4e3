package plan

// Version is the document's kind and version. A reader refuses others, and ignores members that it doesn't know. So a
// changed meaning changes the version.
const Version = "linerate.dev/plan.v1alpha1"
