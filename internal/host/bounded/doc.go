// Package bounded does what may take long within a bound. It runs a program that a person named, to its end: one that sets a device up, resets it
// between trials, or tears it down. It pauses, and never longer than its context lasts.
package bounded
