// Package rig is a real cluster with linerate in it, for end-to-end tests: brought up from this source tree on
// one Linux machine, as root, and taken down again so that nothing is left.
//
//	r, err := rig.Up(ctx, rig.Options{Name: "e2e"})
//	defer r.Down(ctx)
//	r.Client ...   // the administrator's, typed
//	r.Fabric ...   // what the nodes' virtual functions are plugged into
//	r.Cluster ...  // to kill and start its components
//
// An Up begins with a Down, unless the cluster shall be kept: whatever a crash left is gone then.
package rig
