/** A small text can be a huge value, by aliases say: as deep and as many nodes as any honest document has, and no more. */
export const DEEPEST = 200
export const MOST_NODES = 500_000
