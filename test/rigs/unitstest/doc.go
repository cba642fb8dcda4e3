// Package unitstest writes quantities short for tests.
package unitstest
