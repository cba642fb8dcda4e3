// Package foursystems knows what examples/suites/four-systems.yaml must come to, whoever measures it: its devices are References with limits
// that stand in the file. test/realpackets measures it by `linerate run`, test/e2e by the operator, and both hold what they get against this,
// in each format, and write it into docs/measured/four-systems.md.
package foursystems
