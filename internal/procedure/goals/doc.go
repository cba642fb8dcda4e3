// Package goals decides which load a search tries next, and what trials show of each of its goals: a pure function of the trials so far, for searches by multiple loss ratios (MLRsearch, RFC 9971).
//
//	trials so far ──▶ Next ──▶ load, duration, and when that trial is decided before its end
//	              └─▶ Conclude ──▶ for each goal: the highest load that holds below the lowest that doesn't, and what came through there
//
// Nothing here has a clock or a memory: Next plays the search again through the trials that it is given, and says what comes after the last. All functions may be called concurrently.
package goals
