// Package controllers has the operator's controllers, a package for each kind of object that they reconcile,
// and the packages that these share. The operator's rights are listed here.
//
//	loadtest       ──▶ turns, portclaims, inventory, metrics, policies ┐
//	loadtestsuite  ──▶ metrics                                         ├──▶ caches, pass
//	keptreports                                                        ┘
package controllers
