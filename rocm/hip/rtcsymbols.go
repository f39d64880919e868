package hip

// rtcFn numbers the functions of hiprtc.
type rtcFn int

const (
	fnCreateProgram rtcFn = iota
	fnCompileProgram
	fnGetProgramLogSize
	fnGetProgramLog
	fnGetCodeSize
	fnGetCode
	fnDestroyProgram
	rtcFns // their number
)

// rtcSymbols is the one table of hiprtc functions, equal in HIP 5.2 to 7.2.
// hiprtcVersion is not among them: it says 9.0 in every version.
var rtcSymbols = [rtcFns]symbol{
	fnCreateProgram:     {name: "hiprtcCreateProgram", header: "hiprtc.h"},
	fnCompileProgram:    {name: "hiprtcCompileProgram", header: "hiprtc.h"},
	fnGetProgramLogSize: {name: "hiprtcGetProgramLogSize", header: "hiprtc.h"},
	fnGetProgramLog:     {name: "hiprtcGetProgramLog", header: "hiprtc.h"},
	fnGetCodeSize:       {name: "hiprtcGetCodeSize", header: "hiprtc.h"},
	fnGetCode:           {name: "hiprtcGetCode", header: "hiprtc.h"},
	fnDestroyProgram:    {name: "hiprtcDestroyProgram", header: "hiprtc.h"},
}

// comgrFn numbers the functions of the code object manager.
type comgrFn int

const (
	fnISACount comgrFn = iota
	fnISAName
	comgrFns // their number
)

// comgrSymbols is the one table of comgr functions, equal in 2.4 to 3.0.
var comgrSymbols = [comgrFns]symbol{
	fnISACount: {name: "amd_comgr_get_isa_count", header: "amd_comgr.h"},
	fnISAName:  {name: "amd_comgr_get_isa_name", header: "amd_comgr.h"},
}

// rtcTable and comgrTable hold the addresses.
type (
	rtcTable   [rtcFns]uintptr
	comgrTable [comgrFns]uintptr
)

// rtcResultName returns the name of a hiprtcResult. Source: hiprtc.h, equal in
// HIP 5.2 to 7.2, but for 100, which 5.7 added.
func rtcResultName(code int) string {
	names := [...]string{
		"SUCCESS", "ERROR_OUT_OF_MEMORY", "ERROR_PROGRAM_CREATION_FAILURE", "ERROR_INVALID_INPUT",
		"ERROR_INVALID_PROGRAM", "ERROR_INVALID_OPTION", "ERROR_COMPILATION", "ERROR_BUILTIN_OPERATION_FAILURE",
		"ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION", "ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
		"ERROR_NAME_EXPRESSION_NOT_VALID", "ERROR_INTERNAL_ERROR",
	}
	switch {
	case code >= 0 && code < len(names):
		return "HIPRTC_" + names[code]
	case code == 100:
		return "HIPRTC_ERROR_LINKING"
	}
	return "HIPRTC_ERROR_UNKNOWN"
}
