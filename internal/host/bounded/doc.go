// Package bounded does within a bound what may take long. It runs a program that a person named, to its end, such
// as one that sets a device up, resets it between trials, or tears it down. It pauses, and never longer than its
// context lasts.
package bounded
