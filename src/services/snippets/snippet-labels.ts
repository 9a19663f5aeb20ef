interface Labelled {
  readonly instance: string
  readonly language: string | undefined
  readonly metadata: Readonly<Record<string, string>>
}

/**
 * The labels of a snippet in the journal, and the labels of a filter. The instance is part of each label, so that a
 * list reads no tasks of other instances. The rarest label comes first, because the journal searches by the first one.
 */
export const labelsFor = ({ instance, language, metadata }: Labelled): string[] => [
  ...Object.entries(metadata).map(([key, value]) => JSON.stringify([instance, 'metadata', key, value])),
  ...(language === undefined ? [] : [JSON.stringify([instance, 'language', language])]),
]
