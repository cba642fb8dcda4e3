// Package keptreports deletes Reports that outlived their LoadTests once there are too many of them, or they
// are too old.
package keptreports
