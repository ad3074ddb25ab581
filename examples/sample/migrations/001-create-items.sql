-- Applied on every installation: never edit, add a new file instead.
create table items (id integer primary key, name text not null);
