// Package plan is the Plan document, with everything needed to run a measurement, and to repeat it. The compiler
// writes it, the runner reads it, the Report carries it. It holds no secret and no address that is found out only
// at run time.
package plan
