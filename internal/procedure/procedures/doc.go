// Package procedures chooses a Plan's procedure by its type. It is the one place that knows all procedures.
package procedures
