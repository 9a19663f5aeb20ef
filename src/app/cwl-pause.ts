/** Unlike the clock's own waits it keeps the process alive: somebody sits in front of it. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))
