# What Devel::NYTProf's own reader makes of a profile: subs, call places, lines. Tab-separated.
use strict;
use warnings;
use Devel::NYTProf::Data;

my $data = Devel::NYTProf::Data->new(
    {filename => $ARGV[0], quiet => 1, skip_collapse_evals => 1});
my $subs = $data->subname_subinfo_map;
for my $name (sort keys %$subs) {
    my $sub = $subs->{$name};
    print join("\t", "sub", $name, $sub->calls || 0,
        map({ sprintf "%.17g", $_ || 0 } $sub->incl_time, $sub->excl_time)), "\n";
    my $places = $sub->caller_fid_line_places || {};
    for my $fid (keys %$places) {
        for my $line (keys %{$places->{$fid}}) {
            my $call = $places->{$fid}{$line};
            print join("\t", "call", $name, $fid, $line, $call->[0], sprintf("%.17g", $call->[1])), "\n";
        }
    }
}
for my $file ($data->all_fileinfos) {
    my $lines = $file->line_time_data or next;
    for my $line (0 .. $#$lines) {
        my $time = $lines->[$line] or next;
        print join("\t", "line", $file->fid, $line, sprintf("%.17g", $time->[0]), $time->[1]), "\n";
    }
}
