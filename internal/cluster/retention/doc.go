// Package retention decides which kept objects to delete: those that are too many, and those that are too old. It is pure: from the objects that
// exist follow those to delete, and when to decide again.
package retention
