// Package foursystems knows the results of examples/suites/four-systems.yaml, however it is measured: its
// devices are References with limits that are in the file. test/packets/realpackets measures it by `linerate
// run`, test/cluster/e2e by the operator, and both hold what they get against this, in each format, and write
// it into docs/measured/four-systems.md.
package foursystems
