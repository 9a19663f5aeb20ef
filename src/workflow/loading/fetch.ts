/** Brings the text of a document; the only way in which this folder sees the world. Rejects when it is not there. */
export type Fetch = (uri: string) => Promise<string>
