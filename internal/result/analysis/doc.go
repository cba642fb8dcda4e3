// Package analysis says what a run's windows mean, in the result with its reason, and the verdict on the criteria.
// It adds no figure of its own. All figures come from one window of the Report, or from several together where the
// procedure says so, and maxReceived from another.
package analysis
