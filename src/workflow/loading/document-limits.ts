/** Limits of depth and nodes: a small text can be a huge value, for example through YAML aliases. */
export const DEEPEST = 200
export const MOST_NODES = 500_000
