package kubectl

import "reflect"

// Documents are the types of what commands print as JSON that is no document of package report, by its kind and version, for their schemas.
func Documents() map[string]reflect.Type {
	return map[string]reflect.Type{listVersion: reflect.TypeFor[listing](), diagnosisVersion: reflect.TypeFor[diagnosis]()}
}
