// Package stream holds TRex's stream objects as they travel in add_stream: plain data with the wire's JSON names, shared by the packages
// that build streams (profile), store them (plan), send them to a server (trex) and play them (softgen). It only encodes them.
package stream
