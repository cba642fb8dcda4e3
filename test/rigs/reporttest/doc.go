// Package reporttest makes Reports and suites up that runs could have written, for tests of what reads them.
package reporttest
