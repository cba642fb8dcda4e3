// Package retention decides which kept objects to delete, because they are too many or too old. It is pure.
package retention
