/** Returns the text of a document; the only I/O of this folder. Rejects when the document does not exist. */
export type Fetch = (uri: string) => Promise<string>
