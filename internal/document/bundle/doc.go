// Package bundle packs what is needed to check and to repeat measurements into one file, which any tar unpacks:
// Reports, their Plans, environments and suites, and what was collected from devices, without secrets.
//
//	┌─────────────────┬──────────┬──────────┬───┬─────┐  each part is packed with gzip by itself, and holds one
//	│ manifest.json   │ member 1 │ member 2 │ … │ end │  entry of a tar file
//	└─────────────────┴──────────┴──────────┴───┴─────┘
//	  stored            packed                   stored
//
// The manifest has the SHA-256 of each member, unpacked and as it is packed. Manifest and end are stored in the one
// way that there is. So each byte of the file belongs to a named part, and shows when it was changed.
package bundle
