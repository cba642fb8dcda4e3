// Package intaketest makes documents that are made to fill memory, and measures what reading them takes.
package intaketest
