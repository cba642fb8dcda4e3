// Package sshtest serves SSH on loopback, as a device does that is asked by commands.
package sshtest
