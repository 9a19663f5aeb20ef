import { kindOfField, kindOfName } from './classify.ts'
import type { FieldKind, HeaderField } from './header-field.ts'

/** A name and its kind, which fields with this name share. */
export interface FieldName {
  readonly text: string
  readonly kind: FieldKind
}

/** A field in a table. */
export interface TableField extends HeaderField {
  readonly fieldName: FieldName
  /** The size in the table and in SETTINGS_MAX_HEADER_LIST_SIZE (RFC 7541, section 4.1). */
  readonly bytes: number
}

/** The overhead per field (RFC 7541, section 4.1). */
export const FIELD_OVERHEAD = 32

/** Makes all table fields, with their properties in one order, so that V8 sees one object shape in the decoder. */
export function tableField(fieldName: FieldName, value: string): TableField {
  const { text: name, kind } = fieldName
  return { name, value, kind: kindOfField(kind, value), fieldName, bytes: name.length + value.length + FIELD_OVERHEAD }
}

export function toFieldName(text: string): FieldName {
  return { text, kind: kindOfName(text) }
}
