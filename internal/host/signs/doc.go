// Package signs describes what can be read of a machine beside its processors' times, which are the types of vital
// signs, their series and units, and the readings that travel from the machine (package machine) to package
// observe. It is pure.
//
//	types that are wanted ──▶ machine.SignsReader, on the machine ──▶ []Reading ──▶ internal/measure/observe
package signs
