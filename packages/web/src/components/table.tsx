// The head of a table.
export interface TableHeadProps {
  columns: string[];
  /** The last column has buttons. */
  hasActions?: boolean;
}

export const TableHead = ({ columns, hasActions = false }: TableHeadProps) => (
  <thead>
    <tr>
      {columns.map((name) => (
        <th key={name}>{name}</th>
      ))}
      {hasActions && (
        <th>
          <span className="sr-only">Actions</span>
        </th>
      )}
    </tr>
  </thead>
);
