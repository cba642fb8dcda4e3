// Package compatibility holds what this linerate makes of documents against what the release that wrote them made of them. The documents are of that release: its
// runner measured, in virtual time, its operator's code packed, and its command line printed what stands in answers.txtar. None of them is ever written again.
//
//	testdata/v1alpha1/reports      Reports and a suite's report, as --save keeps them
//	                 /plans        Plans, as a ConfigMap has them, and the hashes of their methods
//	                 /configmaps   a Report's, a suite's, a runner's progress and a baseline
//	                 /answers.txtar what was printed of the reports
package compatibility
