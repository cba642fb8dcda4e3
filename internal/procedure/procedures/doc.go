// Package procedures chooses a Plan's procedure by its type. It is the only place that lists all procedures.
package procedures
