// Package stream holds TRex's stream objects as they travel in add_stream. They are plain data with JSON's names of
// TRex's RPC, shared by the packages that build streams (profile), store them (plan), send them to a server (trex)
// and play them (softgen). The package only encodes them.
package stream
