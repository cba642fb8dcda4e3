package delivery

// What TestNoRunIsLargerThanItIsCountedWith asks for: the type of runs is of a package that imports this one.
var LargestElement = largestElement

const RunElementBytes = runElementBytes
