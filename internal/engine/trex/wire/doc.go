// Package wire is the envelope of TRex's RPC, for both of its ends: JSON-RPC 2.0 requests and answers, single
// or in batches, its error codes and size limit, the compression framing, and numbers as TRex writes them.
package wire
