package cli

import "reflect"

// Documents are the types of what commands print as JSON that is no document of package report, by its kind and version, for their schemas.
func Documents() map[string]reflect.Type {
	return map[string]reflect.Type{verificationsVersion: reflect.TypeFor[verifications](), iperf3Version: reflect.TypeFor[iperf3Document]()}
}
