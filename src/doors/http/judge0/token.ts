/** Converts a task id to a token: `task_` and 32 hex digits become a UUID, which Judge0's clients expect. */
export const tokenOf = (id: string): string =>
  /^task_[0-9a-f]{32}$/.test(id) ? id.slice(5).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') : id

export const taskIdOf = (token: string): string =>
  /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(token) ? `task_${token.replaceAll('-', '')}` : token
