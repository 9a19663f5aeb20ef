import { kindOfField, kindOfName } from './classify.ts'
import type { FieldKind, HeaderField } from './header-field.ts'

/** A name and what it means on its own, for fields that take it over from another one. */
export interface FieldName {
  readonly text: string
  readonly kind: FieldKind
}

/** A field as the tables hold it. */
export interface TableField extends HeaderField {
  readonly fieldName: FieldName
  /** As both the table's size and SETTINGS_MAX_HEADER_LIST_SIZE count it (RFC 7541, section 4.1). */
  readonly bytes: number
}

/** The overhead per field (RFC 7541, section 4.1). */
export const FIELD_OVERHEAD = 32

/** All table fields are made here, with their properties in one order: the decoder then meets one shape only. */
export function tableField(fieldName: FieldName, value: string): TableField {
  const { text: name, kind } = fieldName
  return { name, value, kind: kindOfField(kind, value), fieldName, bytes: name.length + value.length + FIELD_OVERHEAD }
}

export function toFieldName(text: string): FieldName {
  return { text, kind: kindOfName(text) }
}
